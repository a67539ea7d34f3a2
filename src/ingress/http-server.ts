import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Express } from 'express';

// A client that goes silent in the middle of a request is dropped; idle connections outlive those of a proxy in front.
const KEEP_ALIVE_MS = 65_000;
const REQUEST_TIMEOUT_MS = 60_000;

/** How long a connection may stay silent while the server stops, because a request may be arriving on it. */
const LAST_WORD_MS = 500;

/** Open connections of each server: node:http takes one on which nothing has come yet for a busy one. */
const openSockets = new WeakMap<Server, Set<Socket>>();

/**
 * HTTP server that creates requests and responses with Express' prototypes. Express re-parents both on every call;
 * doing that to live objects defeats the engine's property caches and costs more than half of a small request
 * (http-server.md#construction). The constructors are plain functions, because prototypes of class declarations are not
 * assignable, and they call node's own, which are plain functions too.
 *
 * listener what answers, if it is not the app itself but several that share its prototypes
 */
export function createHttpServer(app: Express, listener: RequestListener = app): Server {
  function Request(this: IncomingMessage, ...args: unknown[]) {
    (IncomingMessage as unknown as (...inner: unknown[]) => void).apply(this, args);
  }
  Request.prototype = app.request;
  function Response(this: ServerResponse, ...args: unknown[]) {
    (ServerResponse as unknown as (...inner: unknown[]) => void).apply(this, args);
  }
  Response.prototype = app.response;
  const server = createServer(
    {
      IncomingMessage: Request as unknown as typeof IncomingMessage,
      ServerResponse: Response as unknown as typeof ServerResponse,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    listener,
  );
  const sockets = new Set<Socket>();
  openSockets.set(server, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return server;
}

/**
 * Accepts no more connections and resolves when the last one is closed. A busy connection is ended by its next answer;
 * a silent one is closed a moment later. `Server.close` of node:http does neither: it cuts a request that is arriving
 * on a silent connection, and waits for busy connections for ever.
 */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
    // Not in the timer itself: requests that have arrived are read in between, and their connections are not silent.
    const sweep = setInterval(() => setImmediate(() => closeSilent(server)), LAST_WORD_MS);
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      resolve();
    });
  });
}

function closeSilent(server: Server): void {
  server.closeIdleConnections();
  for (const socket of openSockets.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
}
