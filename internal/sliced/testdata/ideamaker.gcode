M99123
;Sliced by ideaMaker 5.4.2.8790, 2026-03-01 10:00:00 UTC+00:00
;Dimension: 305.000 305.000 605.000 0.400 0.400
;Plate Shape: 0
;Bounding Box: 127.500 177.500 130.250 174.750 0.000 20.100
;Filament Diameter #1: 1.750
;Nozzle Diameter #1: 0.400
;Nozzle Diameter #2: 0.400
;Filament Name #1: [Raise3D] PLA
;Filament Name #2: [Raise3D] PVA
;Print Time: 7325
;Material#1 Used: 868.0
;Material#2 Used: 12.5
;Layer Count: 67
;LAYER:0
;Z:0.300
;HEIGHT:0.300
;LAYER:1
;Z:0.500
;HEIGHT:0.200
;HEIGHT:0.250
G28
