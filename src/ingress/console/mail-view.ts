import express, { type Express, type Request, type Response } from 'express';
import { findSession } from '../../areas/tenancy/console-sessions/admit.ts';
import { isCsrfToken } from '../../areas/tenancy/console-sessions/csrf-token.ts';
import type { Log } from '../../platform/log/log.ts';
import { refuse } from '../../platform/refusal.ts';
import type { Limiters } from '../rate-limit.ts';
import { answerOfError } from '../refusals.ts';
import { requestIdOf } from '../request-id.ts';
import { send } from '../send-answer.ts';
import { livesBy, lookUp, type SessionDeps } from './admit-session.ts';
import { tokenIn } from './cookie.ts';

export const MAIL_VIEW_PATH = '/console/mail-view';

/** The longest page; percent signs make three letters of each byte on the way. */
const HTML_BYTES = 2_000_000;
const BODY_BYTES = 3 * HTML_BYTES + 1000;

/**
 * The frame has an origin of its own, runs nothing, opens nothing and loads nothing; only styles and pictures that
 * stand in it are shown, and only pages of ours hold it.
 */
const HEADERS = {
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

type Deps = SessionDeps & { log: Log; limiters: Limiters };

/**
 * Answers a form of the console with the page of a mail that the form holds, to be shown in a frame: a frame that is
 * filled by script would have the policy of the console, which takes no styles of elements.
 *
 * Rule: console.md#mails-in-a-frame.
 */
export function mountMailView(root: Express, deps: Deps): void {
  root.post(MAIL_VIEW_PATH, async (request, response) => {
    const requestId = requestIdOf(request);
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    response.setHeader('X-Request-Id', requestId);
    try {
      const html = await pageOf(deps, request, response);
      response.status(200).type('html').send(html);
    } catch (error) {
      const { status, body, headers } = answerOfError(error, deps.log, { requestId, operation: 'console mail view' });
      send(response, { status, text: JSON.stringify(body), headers });
    }
  });
}

/** @throws Refusal 401, without a cookie and the token of its session; 413; 422 html */
async function pageOf(deps: Deps, request: Request, response: Response): Promise<string> {
  const token = request.headers.authorization === undefined ? tokenIn(request.headers, deps.config) : undefined;
  const session =
    token === undefined
      ? undefined
      : await lookUp(deps, request, response, () => findSession(deps.sql, token, livesBy(deps.config)));
  if (!session) return refuseUnknown(deps, request, response);
  const { html, token: csrfToken } = await readForm(request, response);
  if (!isCsrfToken(csrfToken, session)) return refuseUnknown(deps, request, response);
  if (html === undefined || html === '') throw refuse.invalid({ html: ['value_is_mandatory'] });
  if (Buffer.byteLength(html) > HTML_BYTES) throw refuse.invalid({ html: ['value_is_too_long'] });
  return html;
}

async function refuseUnknown({ limiters }: Deps, request: Request, response: Response): Promise<never> {
  await limiters.address(request, response);
  throw refuse.unauthorized();
}

const parseForm = express.urlencoded({ extended: false, limit: BODY_BYTES, parameterLimit: 2 });

/** The fields of the form; of a body that is none, none. @throws Refusal 413 */
async function readForm(request: Request, response: Response): Promise<Partial<Record<'html' | 'token', string>>> {
  await new Promise<void>((resolve, reject) => {
    // What cannot be read is too large or of a strange encoding: no form of ours is.
    parseForm(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(refuse.tooLarge())));
  });
  const fields = Object.entries((request.body ?? {}) as Record<string, unknown>);
  return Object.fromEntries(fields.filter((each): each is [string, string] => typeof each[1] === 'string'));
}
