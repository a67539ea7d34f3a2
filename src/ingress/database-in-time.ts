import { Outage } from '../platform/refusal.ts';

/**
 * Returns the result of a query, or throws an Outage after the given milliseconds: a frozen server keeps its
 * connections open, and the driver would wait for ever.
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
