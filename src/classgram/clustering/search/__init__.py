"""How the exchange algorithm is made fast: tables, schedules of sweeps, engines."""
