// Starts a server in one process for each processor. The arguments of the scripts are:
//
//     HOST:PORT DATABASE CONNECTIONS
//
// CONNECTIONS to the database are divided among the processes.
import cluster from "node:cluster";
import { availableParallelism } from "node:os";

// PostGraphile 5 needs it, and Node.js has it from version 22 on.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((...functions) => ([resolve, reject] = functions));
  return { promise, resolve, reject };
};

// serve calls newServer with the options of a connection pool of the package pg.
export async function serve(newServer) {
  const workers = availableParallelism();
  if (cluster.isPrimary) {
    for (let i = 0; i < workers; i++) cluster.fork();
    return;
  }
  const [address, database, connections] = process.argv.slice(2);
  const [host, port] = address.split(":");
  const server = await newServer({
    connectionString: database,
    max: Math.ceil(Number(connections) / workers),
    idleTimeoutMillis: 0, // keep connections, as the other servers do
    options: "-c jit=off", // as the other servers do: compiling takes longer than running
  });
  server.keepAliveTimeout = 0; // clients wait for the turns of other servers
  server.listen(Number(port), host);
}
