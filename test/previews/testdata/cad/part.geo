SetFactory("OpenCASCADE");
Box(1) = {0,0,0, 20,10,5};
Cylinder(2) = {10,5,-1, 0,0,7, 3};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
