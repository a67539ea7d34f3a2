/** An object that a notification names. */
export interface NamedObject {
  bucket: string;
  key: string;
}

/** The body of a message is none of the notifications that are known. */
export class UnknownNotification extends Error {}

type Fields = Record<string, unknown>;

/**
 * Objects that were put into a bucket, as a message of a queue tells: a notification of S3, the same passed on by SNS,
 * or an event of EventBridge. What tells of anything else, such as a removed object or the test of a set-up, names
 * none.
 *
 * @throws UnknownNotification
 * Rule: streams.md#notifications-of-s3.
 */
export function objectsNamedIn(body: string): NamedObject[] {
  const sent = parsed(body);
  if (sent.Type === 'Notification' && typeof sent.Message === 'string') return objectsOf(parsed(sent.Message));
  return objectsOf(sent);
}

function objectsOf(sent: Fields): NamedObject[] {
  if (sent.Event === 's3:TestEvent') return [];
  if (sent.source === 'aws.s3')
    return sent['detail-type'] === 'Object Created' ? [named(fieldsOf(sent.detail), (key) => key)] : [];
  if (!Array.isArray(sent.Records)) throw new UnknownNotification();
  return sent.Records.flatMap((record: unknown) => {
    const { eventSource, eventName, s3 } = fieldsOf(record);
    if (eventSource !== 'aws:s3') throw new UnknownNotification();
    return typeof eventName === 'string' && eventName.startsWith('ObjectCreated:')
      ? [named(fieldsOf(s3), unescaped)]
      : [];
  });
}

function named({ bucket, object }: Fields, keyOf: (sent: string) => string): NamedObject {
  const [{ name }, { key }] = [fieldsOf(bucket), fieldsOf(object)];
  if (typeof name !== 'string' || typeof key !== 'string') throw new UnknownNotification();
  return { bucket: name, key: keyOf(key) };
}

/** Keys stand there as in a form that is sent: `a+b%2Bc` is `a b+c`. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch (cause) {
    throw new UnknownNotification(undefined, { cause });
  }
}

function parsed(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch (cause) {
    throw new UnknownNotification(undefined, { cause });
  }
}

function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new UnknownNotification();
  return value as Fields;
}
