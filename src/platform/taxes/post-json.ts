import { request } from 'undici';
import { describeTrouble } from '../http/outgoing.ts';
import { storableJson, storableText } from '../schema/storable.ts';

/** Most bytes of an answer that are read: some kilobytes a line, of thousands of lines. */
const ANSWER_MAX_BYTES = 8 * 1024 * 1024;

export interface JsonAnswer {
  status: number;
  /** Undefined if the body is no JSON. Its texts can be stored, as `text` can. */
  body: unknown;
  text: string;
  retryAfterMs: number | undefined;
}

/**
 * POSTs JSON to an address that the operator or the code of a driver names; the trouble as a text if no answer came.
 */
export async function postJson(
  url: string,
  { headers, body, timeoutMs }: { headers: Record<string, string>; body: unknown; timeoutMs: number },
): Promise<JsonAnswer | { trouble: string }> {
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await readBounded(answer.body);
    const after = Number(answer.headers['retry-after'] ?? Number.NaN);
    return {
      status: answer.statusCode,
      text: storableText(text),
      body: parse(text),
      retryAfterMs: Number.isFinite(after) && after >= 0 ? after * 1000 : undefined,
    };
  } catch (error) {
    return { trouble: describeTrouble(error) };
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > ANSWER_MAX_BYTES) throw new Error(`the answer has more than ${ANSWER_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return storableJson(JSON.parse(text));
  } catch {
    return undefined; // the caller sees it as an answer that it cannot read
  }
}
