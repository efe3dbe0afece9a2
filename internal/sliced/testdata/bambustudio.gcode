; HEADER_BLOCK_START
; BambuStudio 02.08.02.61
; model printing time: 2h 6m 50s; total estimated time: 2h 14m 0s
; total layer number: 75
; total filament length [mm] : 5127.93,2704.70
; total filament volume [cm^3] : 12334.13,6505.56
; total filament weight [g] : 16.28,8.13
; filament_density: 1.32,1.25,1.25,1.24,1.24
; filament_diameter: 1.75,1.75,1.75,1.75,1.75
; max_z_height: 15.00
; filament: 1,3
; HEADER_BLOCK_END

; CONFIG_BLOCK_START
; enable_support = 0
; filament_colour = #161616;#FFFFFF;#F2F2F2FF
; filament_settings_id = "Bambu PLA Matte @BBL P1S";"Bambu PLA Basic @BBL P1S";"Generic PETG HF"
; filament_type = PLA;PLA;PETG
; layer_height = 0.2
; nozzle_diameter = 0.4
; printer_model = Bambu Lab P1S
; sparse_infill_density = 15%
; CONFIG_BLOCK_END
M620 S0A
