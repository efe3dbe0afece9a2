// Serves the tables of a PostgreSQL database by PostGraphile 4.
import { createServer } from "node:http";
import pg from "pg";
import postgraphile from "postgraphile";
import { serve } from "../serve.mjs";

serve((options) =>
  createServer(
    postgraphile.postgraphile(new pg.Pool(options), "public", {
      watchPg: false,
      graphiql: false,
      disableQueryLog: true,
      disableDefaultMutations: true,
      simpleCollections: "both", // lists beside connections
    }),
  ),
);
