// A proxy without memory: each request goes to the next server that accepts a connection.
import { createServer, request } from "node:http";
import { connect } from "node:net";

/** A connection to the first of these ports that accepts one. */
async function reach(ports) {
  for (const port of ports) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const accepted = await new Promise((done) => socket.once("connect", () => done(true)).once("error", () => done(false)));
    if (accepted) return socket;
  }
  return undefined;
}

/** `ports` are those of the servers. A connection that breaks behind the proxy breaks before it as well. */
export async function startProxy(ports) {
  let turn = 0;
  const proxy = createServer(async (incoming, outgoing) => {
    turn += 1;
    const order = ports.map((_, index) => ports[(turn + index) % ports.length]);
    const socket = await reach(order);
    if (!socket) {
      outgoing.writeHead(502, { "content-type": "text/plain" }).end("no server is there");
      return;
    }
    const cut = () => outgoing.destroy();
    const { method, url, headers } = incoming;
    // A connection for each request, so that every one has its turn.
    const passed = request({ createConnection: () => socket, method, path: url, headers: { ...headers, connection: "close" } }, (response) => {
      const { connection, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode, rest);
      outgoing.flushHeaders();
      response.on("error", cut).on("aborted", cut).pipe(outgoing);
    });
    passed.on("error", cut);
    // A client that leaves is gone for the server as well.
    outgoing.once("close", () => passed.destroy());
    incoming.on("error", () => passed.destroy()).pipe(passed);
  });
  proxy.requestTimeout = 0;
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  const stop = () => {
    proxy.closeAllConnections();
    return new Promise((closed) => proxy.close(closed));
  };
  return { url: `http://127.0.0.1:${proxy.address().port}`, stop };
}
