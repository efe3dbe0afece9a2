-- Things whose popularity does not include their newest actions yet. A row remains if its thing is deleted in the meantime.
CREATE TABLE unranked_things (
    thing_id INTEGER PRIMARY KEY
);
