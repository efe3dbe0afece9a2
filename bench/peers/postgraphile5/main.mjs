// Serves the tables of a PostgreSQL database by PostGraphile 5. The names in the schema are those
// of PostGraphile 4, so that both answer the same documents.
import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { makeV4Preset } from "postgraphile/presets/v4";
import { serve } from "../serve.mjs";

serve(async ({ connectionString, ...poolConfig }) => {
  const instance = postgraphile({
    extends: [
      PostGraphileAmberPreset,
      makeV4Preset({ simpleCollections: "both", disableDefaultMutations: true }),
    ],
    pgServices: [makePgService({ connectionString, schemas: ["public"], poolConfig })],
    grafserv: { graphqlPath: "/graphql", graphiql: false, watch: false },
    grafast: { explain: false },
  });
  await instance.getSchema();
  const server = createServer();
  await instance.createServ(grafserv).addTo(server);
  return server;
});
