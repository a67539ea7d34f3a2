import type { SourceHost, StreamMessage } from './source.ts';

/** How many messages, or bytes of them, are handed over together. */
const SLICE = 1000;
const SLICE_BYTES = 1024 * 1024;

interface Delivery {
  /** Aborted when the part is no longer this process's: what is not stored is left to whoever has it now. */
  until?: AbortSignal;
  /** Asked between slices: whether reading goes on. */
  isWanted?(): boolean;
}

/**
 * Hands over messages while they are still being read: while a slice is stored the next one is gathered, so that two
 * are held at most. What comes before an error of the reader is stored, and then it is thrown.
 *
 * @returns whether all of them are stored; otherwise reading was no longer wanted
 * @throws what the reader throws; what `deliver` throws
 */
export async function deliverInSlices(
  host: Pick<SourceHost, 'deliver' | 'room'>,
  messages: AsyncIterable<StreamMessage>,
  { until, isWanted = () => true }: Delivery = {},
): Promise<boolean> {
  let storing: Promise<unknown> = Promise.resolve();
  let slice: StreamMessage[] = [];
  let bytes = 0;
  const handOver = async () => {
    await storing;
    storing = host.deliver(slice, until);
    storing.catch(() => {}); // met by the next, or at the end
    slice = [];
    bytes = 0;
    await host.room();
  };
  let isWhole = true;
  let fault: { error: unknown } | undefined;
  try {
    for await (const message of messages) {
      slice.push(message);
      bytes += message.bytes?.length ?? 0;
      if (slice.length < SLICE && bytes < SLICE_BYTES) continue;
      await handOver();
      isWhole = isWanted();
      if (!isWhole) break;
    }
  } catch (error) {
    until?.throwIfAborted();
    fault = { error };
  }
  await handOver();
  await storing;
  if (fault) throw fault.error;
  return isWhole;
}
