; KISSlicer - FREE
; Windows
; version 1.6.3
; Built: May  4 2018, 22:54:14
; Running on 8 cores
; layer_thickness_mm = 0.25
; printer_name = RepRap
G28
; Estimated Build Time:   332.83 minutes
; Estimated Build Cost:   $0.00
;
; Filament used per extruder:
;    Ext 1 =    53.49 mm  (0.378 cm^3)
