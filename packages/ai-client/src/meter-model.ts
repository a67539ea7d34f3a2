import type { MeterOptions } from './meter.ts';
import type { Begun, CallUsage } from './meterstone.ts';

interface Model {
  provider: string;
  modelId: string;
}
type Part = Record<string, unknown>;

/** Middleware of the Vercel AI SDK, of specification 4 and, with the same functions, 3 and 2. */
interface Middleware {
  specificationVersion: 'v4';
  // biome-ignore lint/suspicious/noExplicitAny: the answer of a model is passed on as it is
  wrapGenerate(call: { doGenerate(): PromiseLike<any>; model: Model }): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: the same of a stream
  wrapStream(call: { doStream(): PromiseLike<any>; model: Model }): Promise<any>;
}

/** Reports what the calls of a model use: `wrapLanguageModel({ model, middleware: meterModel({ to }) })`. */
export function meterModel(options: MeterOptions): Middleware {
  const begin = (): Begun => {
    const { subscription, properties } = options;
    return options.to.begin({
      ...(subscription === undefined ? {} : { subscription }),
      ...(properties === undefined ? {} : { properties }),
    });
  };
  const tried = async <Result>(begun: Begun, call: () => PromiseLike<Result>): Promise<Result> => {
    try {
      return await call();
    } catch (error) {
      begun.hold?.giveBack();
      throw error;
    }
  };
  const usageOf = (model: Model, { usage, response }: { usage?: unknown; response?: Part | undefined }) =>
    usageOfModel(model, { usage, response }, options.provider);

  return {
    specificationVersion: 'v4',
    async wrapGenerate({ doGenerate, model }) {
      const begun = begin();
      const answer = await tried(begun, doGenerate);
      options.to.end(begun, usageOf(model, answer));
      return answer;
    },
    async wrapStream({ doStream, model }) {
      const begun = begin();
      const answer = await tried(begun, doStream);
      const seen: { usage?: unknown; response?: Part } = {};
      let isEnded = false;
      const end = (): void => {
        if (isEnded) return;
        isEnded = true;
        options.to.end(begun, usageOf(model, seen));
      };
      const sees = (part: Part): void => {
        if (part.type === 'response-metadata') seen.response = { ...seen.response, ...part };
        if (part.type === 'finish') seen.usage = part.usage;
      };
      return { ...answer, stream: watchedParts(answer.stream, sees, end) };
    },
  };
}

function watchedParts(source: ReadableStream<Part>, sees: (part: Part) => void, end: () => void) {
  const reader = source.getReader();
  return new ReadableStream<Part>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          end();
          controller.close();
        } else {
          sees(value);
          controller.enqueue(value);
        }
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}

interface Sides {
  total?: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
}

function usageOfModel(
  { provider, modelId }: Model,
  { usage, response }: { usage?: unknown; response?: Part | undefined },
  named: string | undefined,
): CallUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const figures = figuresOf(usage as Record<string, unknown>);
  if (figures === undefined) return undefined;
  const { id } = response ?? {};
  const hasId = typeof id === 'string' && id !== '';
  const model = response?.modelId;
  return {
    format: 'vercel_ai',
    body: { ...(hasId ? { response: { id } } : {}), usage: figures },
    provider: named ?? provider.split('.')[0],
    model: typeof model === 'string' ? model : modelId,
    hasId,
  };
}

/** Sides with their details are what a model answers; flat figures are what an older one does. */
function figuresOf(usage: Record<string, unknown>): object | undefined {
  const { inputTokens, outputTokens } = usage;
  if (typeof inputTokens !== 'object' || typeof outputTokens !== 'object')
    return typeof inputTokens === 'number' || typeof outputTokens === 'number' ? usage : undefined;
  const input = (inputTokens ?? {}) as Sides;
  const output = (outputTokens ?? {}) as Sides;
  if (input.total === undefined && output.total === undefined) return undefined;
  return {
    inputTokens: input.total,
    inputTokenDetails: { cacheReadTokens: input.cacheRead, cacheWriteTokens: input.cacheWrite },
    outputTokens: output.total,
    outputTokenDetails: { reasoningTokens: output.reasoning },
  };
}
