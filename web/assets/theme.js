// Light or dark: what the reader chose last, otherwise what the system prefers. Runs before anything is drawn.
const theme = {
  key: "quetzal-theme",
  system: matchMedia("(prefers-color-scheme: dark)"),

  systemName() {
    return this.system.matches ? "dark" : "light";
  },

  // Browsers may refuse to remember anything, above all for pages from a file.
  chosen() {
    try {
      const name = localStorage.getItem(this.key);
      return name === "dark" || name === "light" ? name : null;
    } catch {
      return null;
    }
  },

  remember(name) {
    try {
      if (name === this.systemName()) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, name);
    } catch { /* it holds until the page is closed */ }
  },

  apply(name) {
    document.documentElement.dataset.theme = name;
    const button = document.getElementById("theme");
    if (!button) return;
    const other = name === "dark" ? "light" : "dark";
    button.textContent = other === "dark" ? "☾ dark" : "☀ light";
    button.setAttribute("aria-label", `switch to the ${other} theme`);
  },

  toggle() {
    const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    this.remember(name);
    this.apply(name);
  },
};

theme.apply(theme.chosen() || theme.systemName());
theme.system.addEventListener("change", () => theme.apply(theme.chosen() || theme.systemName()));
document.addEventListener("DOMContentLoaded", () => {
  theme.apply(document.documentElement.dataset.theme);
  const button = document.getElementById("theme");
  if (button) button.addEventListener("click", () => theme.toggle());
});
