import { timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Config } from '../platform/config.ts';

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/**
 * Guards the consoles: HTTP Basic login as "operator" with QUEUE_BOARD_PASSWORD; without a password only callers of this
 * machine are let in.
 */
export function operatorOnly(config: Config): RequestHandler {
  const password = config.QUEUE_BOARD_PASSWORD;
  return (request, response, next) => {
    if (password === undefined) {
      if (LOOPBACK.has(request.socket.remoteAddress ?? '') && config.TRUST_PROXY_HOPS === 0) return next();
      response.status(403).type('text/plain').send('Set QUEUE_BOARD_PASSWORD to open the consoles to other machines.');
      return;
    }
    const given = Buffer.from(request.headers.authorization ?? '');
    const wanted = Buffer.from(`Basic ${Buffer.from(`operator:${password}`).toString('base64')}`);
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) return next();
    response.setHeader('WWW-Authenticate', 'Basic realm="Meterstone"');
    response.status(401).type('text/plain').send('Operator login needed.');
  };
}
