import type { SourceHost } from '../source.ts';
import { objectsNamedIn, UnknownNotification } from './notification.ts';
import { HIDDEN_SECONDS, type Queue, type QueueMessage } from './queue.ts';
import { ObjectRefused, type ObjectStore } from './store.ts';
import { MOST_ATTEMPTS, type ObjectTaker, type Taken } from './take-object.ts';
import type { UnreadObjects } from './unread-objects.ts';

/** How often messages that are worked on are hidden again. */
const HIDE_AGAIN_MS = 20_000;
const MINUTE_SECONDS = 60;
/** Under this key what is put aside of the queue itself is counted. */
const QUEUE_KEY = 'queue';

interface Following {
  bucket: string;
  host: SourceHost;
  queue: Queue;
  store: ObjectStore;
  taker: ObjectTaker;
  unread: UnreadObjects;
}

/**
 * Reads the objects that messages of a queue name, until the host's signal is aborted. A message is deleted when its
 * objects have ended; until then it is hidden from others, and it comes again when this process dies.
 *
 * Rule: streams.md#notifications-of-s3.
 */
export async function followQueue(following: Following): Promise<void> {
  const { host, queue } = following;
  while (!host.signal.aborted) {
    const held = new Set(await queue.receive());
    host.isReading();
    const hideAgain = () => void Promise.all([...held].map((each) => queue.hide(each, HIDDEN_SECONDS))).catch(() => {});
    const hiding = setInterval(hideAgain, HIDE_AGAIN_MS); // what fails is seen by others too early, and read once
    try {
      for (const message of [...held]) {
        if (host.signal.aborted) break;
        const againIn = await settle(following, message);
        held.delete(message);
        if (againIn === undefined) await queue.delete(message);
        else await queue.hide(message, againIn);
      }
    } finally {
      clearInterval(hiding);
    }
    for (const message of held) await queue.hide(message, 0).catch(() => {}); // others see it a little later
  }
}

/** @returns undefined when the message is done with; otherwise the seconds after which it comes again */
async function settle(following: Following, message: QueueMessage): Promise<number | undefined> {
  try {
    return await readNamed(following, message);
  } catch (error) {
    if (error instanceof UnknownNotification)
      return putAside(following, message, 'the message is no notification of an object');
    if (!(error instanceof ObjectRefused)) throw error;
    if (message.receives < MOST_ATTEMPTS) return afterAttempts(message.receives);
    return putAside(following, message, `its object cannot be read: ${error.message}`);
  }
}

async function readNamed(following: Following, message: QueueMessage): Promise<number | undefined> {
  const { bucket, host, store, taker, unread } = following;
  let againIn: number | undefined;
  for (const named of objectsNamedIn(message.body)) {
    if (named.bucket !== bucket || !taker.isWanted({ ...named, size: 1 })) continue;
    host.signal.throwIfAborted();
    const object = await store.find(named.key);
    if (!object || !taker.isWanted(object)) continue;
    unread.add(object);
    const taken = await taker.take(object);
    if (taken.is !== 'waiting') unread.remove(object);
    const wait = waitAfter(taken);
    if (wait !== undefined) againIn = Math.max(againIn ?? 0, wait);
  }
  return againIn;
}

function waitAfter(taken: Taken): number | undefined {
  if (taken.is === 'ended') return undefined;
  return taken.is === 'elsewhere' ? HIDDEN_SECONDS : afterAttempts(taken.attempts);
}

/** As long as an object waits after so many attempts. */
const afterAttempts = (attempts: number): number => MINUTE_SECONDS * 2 ** (Math.max(1, attempts) - 1);

async function putAside({ host }: Following, { id, body }: QueueMessage, message: string): Promise<undefined> {
  const letter = {
    position: `queue/${id}`,
    bytes: Buffer.from(body),
    refused: { code: 'unsupported_format' as const, message },
    sourceTime: `${new Date(host.now().epochMilliseconds).toISOString().slice(0, -1)}000Z`,
    checkpoint: { key: QUEUE_KEY, rank: '0', value: {} },
  };
  await host.deliver([letter]);
  host.log.warn({ message: id, error: message }, 'a message of a queue is put aside');
  return undefined;
}
