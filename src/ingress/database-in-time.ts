import { Outage } from '../platform/refusal.ts';

/**
 * What Postgres answers, or an Outage after so many milliseconds: a server that froze keeps its connections, and the
 * driver would wait for it without end.
 */
export async function answeredInTime<Value>(work: PromiseLike<Value>, withinMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Outage('postgres', undefined)), withinMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
