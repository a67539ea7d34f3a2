import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Express } from 'express';

// A client that goes quiet in the middle of a request is dropped; idle connections outlive those of a proxy in front.
const KEEP_ALIVE_MS = 65_000;
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * HTTP server on which requests and responses are BORN with Express' prototypes. Express re-parents both on every call;
 * doing that to live objects defeats the engine's property caches and costs more than half of a small request
 * (performance-design 2.1). The constructors are plain functions, since prototypes of class declarations are not
 * assignable, and they call node's own, which are plain functions too.
 */
export function createHttpServer(app: Express): Server {
  function Request(this: IncomingMessage, ...args: unknown[]) {
    (IncomingMessage as unknown as (...inner: unknown[]) => void).apply(this, args);
  }
  Request.prototype = app.request;
  function Response(this: ServerResponse, ...args: unknown[]) {
    (ServerResponse as unknown as (...inner: unknown[]) => void).apply(this, args);
  }
  Response.prototype = app.response;
  return createServer(
    {
      IncomingMessage: Request as unknown as typeof IncomingMessage,
      ServerResponse: Response as unknown as typeof ServerResponse,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    app,
  );
}
