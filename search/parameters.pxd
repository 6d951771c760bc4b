"""The numbers of the search, as one block that the compiled code reads. The table in the .py explains them."""

cdef struct Parameters:
    # Switches of techniques that no number can switch off: 1 on, 0 off.
    int use_quiescence
    int use_threats
    # Transposition table
    int tt_depth
    int hash_move_depth
    # Draws and mates
    int draw_noise
    int cycle_plies
    int mate_distance_ply
    # Aspiration windows
    int aspiration_depth
    int aspiration_window
    # Reverse futility
    int reverse_futility_depth
    int reverse_futility_margin
    int reverse_futility_correction
    # Razoring
    int razoring_depth
    int razoring_base
    int razoring_slope
    # Null move
    int null_move_depth
    int null_move_base
    int null_move_divisor
    int null_move_eval_divisor
    int null_move_margin
    int null_move_slope
    int null_move_verification
    # ProbCut
    int probcut_depth
    int probcut_margin
    int probcut_improving
    # Hindsight
    int hindsight_reduction
    int hindsight_margin
    # Internal iterative reduction
    int internal_reduction_depth
    # Late-move pruning
    int late_move_base
    # Futility
    int futility_depth
    int futility_base
    int futility_slope
    # Static exchange
    int see_depth
    int see_quiet_slope
    int see_capture_slope
    # History pruning
    int history_pruning_depth
    int history_pruning_slope
    # Extensions
    int singular_depth
    int singular_margin
    int double_extension_margin
    int double_extension_limit
    # Late-move reduction, in 1024ths of a ply
    int reduction_depth
    int reduction_base
    int reduction_divisor
    int capture_reduction_base
    int capture_reduction_divisor
    int reduction_correction
    int reduction_history_divisor
    int reduction_root
    int reduction_pv
    int reduction_cut_node
    int reduction_not_improving
    int reduction_killer
    int reduction_check
    int reduction_hash_capture
    int reduction_cutoffs
    int deeper_margin
    # Scores above beta
    int fail_high_pull
    # Histories
    int good_capture
    int killer_depth
    int bonus_slope
    int bonus_offset
    int bonus_limit
    int malus_slope
    int malus_offset
    int malus_limit
    int check_bonus
    # Quiescence
    int delta_margin
    # Correction history
    int correction_weight_limit
    int correction_pawn_weight
    int correction_minor_weight
    int correction_piece_weight
    int correction_line_weight
    # Time, in per cent
    int time_share
    int time_increment
    int time_hard
    int time_rivals
    int time_stability
    int time_settled
    int time_drop

cdef Parameters tune

cdef int QUIET_REDUCTIONS[64][64]  # [depth][number of the move], 1024ths of a ply
cdef int CAPTURE_REDUCTIONS[64][64]
