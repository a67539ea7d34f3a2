import type { Request, Response } from 'express';
import { ipKeyGenerator, type RateLimitRequestHandler, rateLimit, type Store } from 'express-rate-limit';
import type { Config } from '../platform/config.ts';
import type { RateCategory } from '../platform/operation.ts';
import { refuse } from '../platform/refusal.ts';
import type { Identity } from './authenticate.ts';
import type { WindowStore } from './window-store.ts';

const WINDOW_MS = 1000;
/** How many sessions of an organization may be at their limit together. */
const BUSY_SESSIONS = 4;

/** The figures about the caller's limit in every answer under the base URL (rate-limits.md#headers). */
export interface RateFigures {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

/** Limits one request: resolves to its figures, or throws 429 after storing the figures on the request. */
export type Limit = (request: Request, response: Response) => Promise<RateFigures>;

export interface Limiters {
  organization: Record<RateCategory, Limit>;
  address: Limit;
  /** Requests of the console: those of the session, and of all sessions of its organization. */
  console: Limit;
  /**
   * Refuses a call before anything is looked up for it, once its address is known to be over its limit in this second.
   *
   * @throws Refusal 429
   */
  refuseIfAddressIsOver(request: Request, response: Response): void;
  /** Figures for an answer that was not counted: those of an unused window. */
  uncounted(category: RateCategory, identity: Identity): RateFigures;
}

/** A request that passed authentication carries its identity and, once limited, its figures. */
export interface EdgeLocals {
  identity?: Identity;
  rate?: RateFigures;
}

/**
 * The limiters: six categories per organization, and calls without a valid key per client address. Fixed windows of
 * one second on Redis' clock, shared by all ingress processes. Rule: rate-limits.md.
 */
export function createLimiters(
  config: Config,
  stores: { of(category: RateCategory): Store; address: WindowStore; session: Store; sessions: Store },
): Limiters {
  const settings: Record<RateCategory, number> = {
    events: config.RATE_LIMIT_EVENTS,
    events_bulk: config.RATE_LIMIT_EVENTS_BULK,
    current_usage: config.RATE_LIMIT_CURRENT_USAGE,
    access: config.RATE_LIMIT_ACCESS,
    budgets: config.RATE_LIMIT_BUDGETS,
    default: config.RATE_LIMIT_DEFAULT,
  };
  const limitOf = (category: RateCategory, identity: Identity) => identity.limits[category] ?? settings[category];
  const perOrganization = (category: RateCategory): Limit =>
    limiter(
      stores.of(category),
      (response) => limitOf(category, (response.locals as EdgeLocals).identity!),
      (_request, response) => {
        const identity = (response.locals as EdgeLocals).identity!;
        return `${identity.organizationId}:${limitOf(category, identity)}`;
      },
    );
  const identityIn = (response: Response): Identity => (response.locals as EdgeLocals).identity!;
  const ofSession = limiter(
    stores.session,
    () => config.RATE_LIMIT_CONSOLE,
    (_request, response) => identityIn(response).sessionId!,
  );
  const ofSessions = limiter(
    stores.sessions,
    () => config.RATE_LIMIT_CONSOLE * BUSY_SESSIONS,
    (_request, response) => identityIn(response).organizationId,
  );
  return {
    organization: {
      events: perOrganization('events'),
      events_bulk: perOrganization('events_bulk'),
      current_usage: perOrganization('current_usage'),
      access: perOrganization('access'),
      budgets: perOrganization('budgets'),
      default: perOrganization('default'),
    },
    address: limiter(stores.address, () => config.RATE_LIMIT_UNAUTHENTICATED, addressOf),
    async console(request, response) {
      // The session first, so that one that is over its limit takes nothing from the others.
      const figures = await ofSession(request, response);
      await ofSessions(request, response);
      (response.locals as EdgeLocals).rate = figures;
      return figures;
    },
    refuseIfAddressIsOver(request, response) {
      const limit = config.RATE_LIMIT_UNAUTHENTICATED;
      if (stores.address.seen(addressOf(request)) <= limit) return;
      (response.locals as EdgeLocals).rate = { limit, remaining: 0, resetSeconds: 1 };
      throw refuse.tooManyRequests();
    },
    uncounted(category, identity) {
      const limit = identity.sessionId === undefined ? limitOf(category, identity) : config.RATE_LIMIT_CONSOLE;
      return { limit, remaining: limit, resetSeconds: 1 };
    },
  };
}

/** The address that a call without a key counts for: an IPv6 client has a whole network, so its /56 is used. */
export const addressOf = (request: Pick<Request, 'ip'>): string =>
  request.ip === undefined ? 'unknown' : ipKeyGenerator(request.ip);

function limiter(
  store: Store,
  limit: (response: Response) => number,
  key: (request: Request, response: Response) => string,
): Limit {
  const handler: RateLimitRequestHandler = rateLimit({
    windowMs: WINDOW_MS,
    store,
    limit: (_request, response) => limit(response),
    keyGenerator: key,
    standardHeaders: false,
    legacyHeaders: false,
    passOnStoreError: true,
    validate: false,
    handler: (_request, _response, next) => next(refuse.tooManyRequests()),
  });
  return async (request, response) => {
    const refusal = await new Promise<unknown>((resolve) => {
      Promise.resolve(handler(request, response, resolve)).catch(resolve);
    });
    const info = (request as Request & { rateLimit?: { limit: number; remaining: number } }).rateLimit;
    const figures = {
      limit: info?.limit ?? limit(response),
      remaining: Math.max(0, info?.remaining ?? 0),
      resetSeconds: 1,
    };
    (response.locals as EdgeLocals).rate = figures;
    if (refusal) throw refusal;
    return figures;
  };
}
