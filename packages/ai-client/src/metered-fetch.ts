import type { Properties } from './context.ts';
import type { Begun, CallUsage, Meterstone } from './meterstone.ts';
import { type Route, routeOf, StreamUsage, usageOfAnswer } from './usage-of-answers.ts';
import { watchedStream } from './watched-stream.ts';

type Fetch = typeof fetch;

export interface FetchOptions {
  to: Meterstone;
  provider?: string | undefined;
  subscription?: string | undefined;
  properties?: Properties | undefined;
}

/**
 * A `fetch` that reports what calls of models use. Requests, answers, errors and streams are those of the given one;
 * only the usage of a stream of chat completions is asked for where the caller did not, and hidden from it.
 */
export function meteredFetch(given: Fetch, options: FetchOptions): Fetch {
  return async (input, init) => {
    const route = init?.method?.toUpperCase() === 'POST' ? routeOf(pathIn(input)) : undefined;
    if (!route) return given(input, init);
    const begun = options.to.begin({
      ...(options.subscription === undefined ? {} : { subscription: options.subscription }),
      ...(options.properties === undefined ? {} : { properties: options.properties }),
    });
    const asked = route === 'chat' ? withUsage(init?.body) : undefined;
    let response: Response;
    try {
      response = await given(input, asked === undefined ? init : { ...init, body: asked });
    } catch (error) {
      begun.hold?.giveBack();
      throw error;
    }
    if (!response.ok || !response.body) {
      begun.hold?.giveBack();
      return response;
    }
    return watched(response, { route, begun, options, hidesUsage: asked !== undefined });
  };
}

const pathIn = (input: Parameters<Fetch>[0]): string =>
  new URL(typeof input === 'string' ? input : input instanceof URL ? input.href : input.url).pathname;

/** The body of a stream of chat completions, with its usage asked for; undefined where nothing has to be changed. */
function withUsage(body: unknown): string | undefined {
  if (typeof body !== 'string' || !body.includes('"stream"')) return undefined;
  try {
    const sent = JSON.parse(body) as { stream?: unknown; stream_options?: { include_usage?: unknown } | null };
    if (sent.stream !== true || sent.stream_options?.include_usage !== undefined) return undefined;
    return JSON.stringify({ ...sent, stream_options: { ...sent.stream_options, include_usage: true } });
  } catch {
    return undefined;
  }
}

interface Watched {
  route: Route;
  begun: Begun;
  options: FetchOptions;
  hidesUsage: boolean;
}

function watched(response: Response, { route, begun, options, hidesUsage }: Watched): Response {
  const { to, provider } = options;
  const report = (usage: CallUsage | undefined): void => to.end(begun, usage && { ...usage, provider });
  if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
    response
      .clone()
      .json()
      .then(
        (answer) => report(usageOfAnswer(route, answer)),
        () => report(undefined),
      );
    return response;
  }
  const usage = new StreamUsage(route);
  const stream = watchedStream(
    response.body!,
    {
      sees(data) {
        // Most events hold a few letters of the answer and no figures.
        if (!data.includes('"usage"') && !data.includes('"message_stop"')) return false;
        const event = parsed(data);
        usage.add(event);
        return hidesUsage && isUsageAlone(event);
      },
      ended: () => report(usage.end()),
    },
    hidesUsage,
  );
  const { status, statusText, headers, url } = response;
  const same = new Response(stream, { status, statusText, headers });
  return Object.defineProperty(same, 'url', { value: url });
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** The extra last chunk, which has no choices. */
function isUsageAlone(event: unknown): boolean {
  const { choices, usage } = (event ?? {}) as { choices?: unknown; usage?: unknown };
  return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null;
}
