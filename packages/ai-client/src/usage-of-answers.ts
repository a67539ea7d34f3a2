import type { CallUsage } from './meterstone.ts';

/** Routes whose calls are metered, by the end of their path. */
export type Route = 'chat' | 'responses' | 'messages' | 'embeddings';

const ROUTES: readonly [end: string, Route][] = [
  ['/chat/completions', 'chat'],
  ['/responses', 'responses'],
  ['/messages', 'messages'],
  ['/embeddings', 'embeddings'],
];

export const routeOf = (path: string): Route | undefined => ROUTES.find(([end]) => path.endsWith(end))?.[1];

const FORMATS: Record<Route, string> = {
  chat: 'openai_chat',
  embeddings: 'openai_chat',
  responses: 'openai_responses',
  messages: 'anthropic_messages',
};

type Body = Record<string, unknown>;

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names and figures of an answer; its texts stay here. Undefined without usage. */
export function usageOfAnswer(route: Route, answer: unknown): CallUsage | undefined {
  if (!isObject(answer) || !isObject(answer.usage)) return undefined;
  const body = figuresOf(answer);
  return { format: FORMATS[route], body, hasId: typeof body.id === 'string' };
}

function figuresOf({ id, type, object, model, service_tier, usage, output }: Body): Body {
  // Searches are counted by the items of the output.
  const searches = Array.isArray(output)
    ? output
        .filter((item) => isObject(item) && item.type === 'web_search_call')
        .map(() => ({ type: 'web_search_call' }))
    : [];
  const named = { id, type, object, model, service_tier, usage };
  const known = Object.entries(named).filter(([, value]) => value !== undefined && value !== null);
  return { ...Object.fromEntries(known), ...(searches.length > 0 ? { output: searches } : {}) };
}

/** What the events of a stream have reported so far. */
export class StreamUsage {
  readonly #route: Route;
  readonly #events: Body[] = [];
  #isComplete = false;

  constructor(route: Route) {
    this.#route = route;
  }

  add(event: unknown): void {
    if (!isObject(event)) return;
    if (this.#route === 'messages') this.#addMessage(event);
    else {
      const answer = this.#route === 'responses' ? event.response : event;
      if (!isObject(answer) || !isObject(answer.usage)) return;
      this.#events.splice(0, 1, figuresOf(answer));
      this.#isComplete = true;
    }
  }

  #addMessage({ type, message, usage }: Body): void {
    if (type === 'message_start' && isObject(message)) this.#events.push({ type, message: figuresOf(message) });
    if (type === 'message_delta' && isObject(usage)) this.#events.splice(1, 1, { type, usage });
    this.#isComplete ||= type === 'message_stop';
  }

  /** Usage at the end of the stream, or where it broke off; undefined if none was reported. */
  end(): CallUsage | undefined {
    const [first] = this.#events;
    if (!first) return undefined;
    const isOfMessages = this.#route === 'messages';
    const named = isOfMessages ? (first.message as Body) : first;
    return {
      format: FORMATS[this.#route],
      body: isOfMessages ? this.#events : first,
      hasId: typeof named.id === 'string',
      ...(this.#isComplete ? {} : { isBroken: true }),
    };
  }
}
