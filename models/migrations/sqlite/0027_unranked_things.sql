-- Things whose popularity lacks their newest actions. The thing may have been deleted since.
CREATE TABLE unranked_things (
    thing_id INTEGER PRIMARY KEY
);
