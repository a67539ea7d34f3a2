import { createHash, timingSafeEqual } from 'node:crypto';
import type { Express, Request, Response } from 'express';
import type { Config } from '../platform/config.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { Log } from '../platform/log/log.ts';
import { refuse } from '../platform/refusal.ts';
import { BASE_PATH } from './answer-request.ts';
import { authorizationOf } from './authorization.ts';
import { isOperatorsSession } from './console/admit-session.ts';
import type { EdgeLocals, Limiters } from './rate-limit.ts';
import { answerOfError } from './refusals.ts';
import { requestIdOf } from './request-id.ts';
import { send } from './send-answer.ts';

export interface OperatorRoute {
  method: 'get' | 'post';
  path: string;
  run: (request: Request) => Promise<object>;
}

interface OperatorDeps {
  sql: Sql;
  config: Config;
  log: Log;
  limiters: Pick<Limiters, 'address' | 'refuseIfAddressIsOver'>;
}

/**
 * The operator's routes require the token of OPERATOR_TOKEN instead of an API key, or a session of the console that was
 * signed in with it; without that setting they are unknown routes. Calls without it count for the caller's address.
 *
 * Rule: other-routes.md#records "periodic jobs".
 */
export function mountOperatorRoutes(app: Express, deps: OperatorDeps, routes: readonly OperatorRoute[]): void {
  const token = deps.config.OPERATOR_TOKEN;
  if (token === undefined) return;
  for (const { method, path, run } of routes)
    app[method](`${BASE_PATH}${path}`, (request: Request, response: Response) =>
      answer(deps, token, { run, request, response }),
    );
}

async function answer(
  deps: OperatorDeps,
  token: string,
  { run, request, response }: { run: (request: Request) => Promise<object>; request: Request; response: Response },
): Promise<void> {
  const requestId = requestIdOf(request);
  response.setHeader('X-Request-Id', requestId);
  let outcome: { status: number; body: object; headers?: Record<string, string> };
  try {
    if (!isToken(authorizationOf(request), token) && !(await isOperatorsSession(deps, request, response))) {
      await deps.limiters.address(request, response);
      throw refuse.unauthorized();
    }
    outcome = { status: 200, body: await run(request) };
  } catch (error) {
    outcome = answerOfError(error, deps.log, { requestId, operation: 'operator' });
  }
  const { status, body, headers } = outcome;
  send(response, { status, text: JSON.stringify(body), headers }, (response.locals as EdgeLocals).rate);
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const isToken = (header: string | undefined, token: string): boolean =>
  timingSafeEqual(hashOf(header ?? ''), hashOf(`Bearer ${token}`));
