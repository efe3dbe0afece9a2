;FLAVOR:Marlin
;TIME:4980
;Filament used: 1.25m, 2.5m
;Layer height: 0.15
;MINX:62.4
;MINY:-3.5
;MINZ:0.2
;MAXX:157.6
;MAXY:141.9
;MAXZ:20
;TARGET_MACHINE.NAME:Creality Ender-3
;Generated with Cura_SteamEngine 5.10.0
M140 S60
;LAYER_COUNT:133
;LAYER:0
G28
;End of Gcode
;SETTING_3 {"global_quality": "[general]\\nversion = 4\\nname = Standard #2\\ndefini
;SETTING_3 tion = creality_ender3\\n\\n[metadata]\\ntype = quality_changes\\nquality
;SETTING_3 _type = standard\\nsetting_version = 24\\n\\n[values]\\nsupport_enable = T
;SETTING_3 rue\\nlayer_height = 0.15\\n\\n", "extruder_quality": ["[general]\\nversion
;SETTING_3  = 4\\n\\n[metadata]\\nposition = 0\\n\\n[values]\\ninfill_sparse_density =
;SETTING_3  35\\n\\n"]}
