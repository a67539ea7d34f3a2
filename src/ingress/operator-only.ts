import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import type { Config } from '../platform/config.ts';
import { authorizationOf } from './authorization.ts';

const LOOPBACK_ADDRESS = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$|^::1$/;
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
/** Headers that only a proxy adds, so that the address seen is not that of the caller. */
const FORWARDING =
  /^(?:x-forwarded-.+|x-original-.+|forwarded|via|x-real-ip|cf-.+|(?:true|x|x-cluster|fastly|fly)-client-ip)$/;

/**
 * Guards the consoles: HTTP Basic login as "operator" with QUEUE_BOARD_PASSWORD; without a password it admits only
 * callers of this machine that name it as their host and use no proxy. A foreign Host may be another site's name that
 * resolves to this machine (DNS rebinding), and cross-site requests are refused.
 */
export function operatorOnly(config: Config): RequestHandler {
  const password = config.QUEUE_BOARD_PASSWORD;
  return (request, response, next) => {
    if (password === undefined) {
      if (config.TRUST_PROXY_HOPS === 0 && isFromThisMachine(request)) return next();
      response.status(403).type('text/plain').send('Set QUEUE_BOARD_PASSWORD to open the consoles to other machines.');
      return;
    }
    const given = Buffer.from(authorizationOf(request) ?? '');
    const wanted = Buffer.from(`Basic ${Buffer.from(`operator:${password}`).toString('base64')}`);
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) return next();
    response.setHeader('WWW-Authenticate', 'Basic realm="Meterstone"');
    response.status(401).type('text/plain').send('Operator login needed.');
  };
}

/** Nginx forwards with HTTP/1.0 and a loopback host unless configured otherwise; browsers and scrapers use 1.1. */
const isFromThisMachine = (request: IncomingMessage): boolean =>
  LOOPBACK_ADDRESS.test(request.socket.remoteAddress ?? '') &&
  LOOPBACK_HOST.test(request.headers.host ?? '') &&
  request.httpVersion !== '1.0' &&
  isOfOwnPage(request.headers) &&
  !isForwarded(request.headers);

/** Browsers name the site that sends a request; scrapers, curl and typed addresses name none. */
function isOfOwnPage({ origin, host, 'sec-fetch-site': site = 'none' }: IncomingHttpHeaders): boolean {
  if (site !== 'none' && site !== 'same-origin') return false;
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
}

const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => FORWARDING.test(name));
