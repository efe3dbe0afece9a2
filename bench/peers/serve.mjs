// Starts a server. The arguments of the scripts are HOST:PORT DATABASE CONNECTIONS.

// PostGraphile 5 needs it, and Node.js has it from version 22 on.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((...functions) => ([resolve, reject] = functions));
  return { promise, resolve, reject };
};

// serve calls newServer with the options of a connection pool of the package pg.
export async function serve(newServer) {
  const [address, database, connections] = process.argv.slice(2);
  const [host, port] = address.split(":");
  const server = await newServer({
    connectionString: database,
    max: Number(connections),
    idleTimeoutMillis: 0, // keep connections, as the other servers do
    options: "-c jit=off -c max_parallel_workers_per_gather=0", // as ours: both take longer than the statements
  });
  server.keepAliveTimeout = 0; // clients wait for the turns of other servers
  server.listen(Number(port), host);
}
