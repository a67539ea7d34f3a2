import { request } from 'undici';
import { jsonIn, readBounded } from '../http/answers.ts';
import { describeTrouble } from '../http/outgoing.ts';
import { readRetryAfterMs } from '../http/retry-after.ts';
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
    const text = await readBounded(answer.body, ANSWER_MAX_BYTES);
    return {
      status: answer.statusCode,
      text: storableText(text),
      body: storableJson(jsonIn(text)),
      retryAfterMs: readRetryAfterMs(answer.headers['retry-after']),
    };
  } catch (error) {
    return { trouble: describeTrouble(error) };
  }
}
