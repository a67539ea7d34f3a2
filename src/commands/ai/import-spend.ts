import { hash } from 'node:crypto';
import { appendFile, open, readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { objectOf, spendRows } from './spend-rows.ts';

/** How many rows, and how many bytes of them, one request holds: less than the door takes. */
const ROWS_AT_ONCE = 1000;
const BYTES_AT_ONCE = 2 * 1024 * 1024;
/** How much of a file says that it is the same one. */
const HEAD_BYTES = 64 * 1024;
/** A request that may succeed later is repeated so often, with pauses that grow to the longest. */
const TRIES = 8;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const LATER: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export interface SpendCounts {
  stored: number;
  replayed: number;
  rejected: number;
  ignored: number;
}

interface Progress {
  /** Of the beginning of the file. */
  head: string;
  headBytes: number;
  /** Rows that are done. */
  rows: number;
  counts: SpendCounts;
}

export interface SpendImport {
  file: string;
  form: 'csv' | 'ndjson';
  /** Of the API, with its version: `http://localhost:3000/api/v1`. */
  baseUrl: string;
  apiKey: string;
  /** Whose calls rows are that do not say it. */
  provider?: string | undefined;
  onProgress?: (rows: number, counts: SpendCounts) => void;
  pauseMs?: number;
}

/**
 * Sends the rows of a LiteLLM spend log to the door of that gateway. What is done is noted beside the file
 * (`FILE.progress`), so that the next run goes on there; rows that come twice are replays. Rows that are refused are
 * listed in `FILE.rejected.ndjson`, by number and id.
 *
 * @throws Error when the service refuses a request as a whole, or does not answer
 * Rule: ai-usage.md#past-spend.
 */
export async function importSpend(given: SpendImport): Promise<SpendCounts & { rows: number; skipped: number }> {
  const progress = await startOf(given.file);
  const skipped = progress.rows;
  let row = 0;
  let waiting: { row: number; line: string }[] = [];
  let bytes = 0;
  const flush = async () => {
    if (waiting.length > 0) await sendRows(given, waiting, progress.counts);
    progress.rows = row;
    waiting = [];
    bytes = 0;
    await note(given.file, progress);
    given.onProgress?.(row, progress.counts);
  };
  for await (const line of spendRows(given.file, given.form)) {
    const size = Buffer.byteLength(line) + 1;
    if (waiting.length === ROWS_AT_ONCE || (waiting.length > 0 && bytes + size > BYTES_AT_ONCE)) await flush();
    row += 1;
    if (row <= skipped) continue;
    waiting.push({ row, line: withProvider(line, given.provider) });
    bytes += size;
  }
  await flush();
  return { ...progress.counts, rows: row, skipped };
}

/** Of a name that stands twice the last counts; the rest of the row stays as it was written. */
function withProvider(line: string, provider: string | undefined): string {
  const row = provider === undefined ? undefined : objectOf(line);
  if (row === undefined || (row.custom_llm_provider ?? '') !== '') return line;
  const end = line.lastIndexOf('}');
  const comma = line.slice(0, end).trimEnd().endsWith('{') ? '' : ',';
  return `${line.slice(0, end)}${comma}"custom_llm_provider":${JSON.stringify(provider)}}`;
}

/** Where the last run ended, if it read the same file. */
async function startOf(file: string): Promise<Progress> {
  const text = await readFile(`${file}.progress`, 'utf8').catch(() => undefined);
  const known = text === undefined ? undefined : (JSON.parse(text) as Progress);
  if (known && (await headOf(file, known.headBytes)).head === known.head) return known;
  return { ...(await headOf(file, HEAD_BYTES)), rows: 0, counts: { stored: 0, replayed: 0, rejected: 0, ignored: 0 } };
}

/** The file may have grown since: only as much of it is compared as was there. */
async function headOf(file: string, most: number): Promise<{ head: string; headBytes: number }> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(most) });
    return { head: hash('sha256', buffer.subarray(0, bytesRead), 'hex'), headBytes: bytesRead };
  } finally {
    await handle.close();
  }
}

async function note(file: string, progress: Progress): Promise<void> {
  await writeFile(`${file}.progress.new`, JSON.stringify(progress));
  await rename(`${file}.progress.new`, `${file}.progress`);
}

interface Result {
  index: number;
  transaction_id: string | null;
  status: keyof SpendCounts;
  error_details?: object;
}

async function sendRows(given: SpendImport, rows: readonly { row: number; line: string }[], counts: SpendCounts) {
  const { results } = (await posted(given, rows.map(({ line }) => line).join('\n'))) as { results: Result[] };
  for (const { status } of results) counts[status] += 1;
  const refused = results.filter(({ status }) => status === 'rejected');
  await reject(
    given.file,
    refused.map(({ index, transaction_id, error_details = {} }) => ({
      row: rows[index]!.row,
      transaction_id,
      error_details,
    })),
  );
}

const reject = (file: string, rows: { row: number; transaction_id: string | null; error_details: object }[]) =>
  rows.length === 0
    ? undefined
    : appendFile(`${file}.rejected.ndjson`, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

/** @throws Error what was answered, when it is final or too many tries have failed */
async function posted({ baseUrl, apiKey, pauseMs = FIRST_PAUSE_MS }: SpendImport, body: string): Promise<unknown> {
  for (let tried = 1; ; tried += 1) {
    const answer = await fetch(`${baseUrl}/ai/usage/litellm`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/x-ndjson' },
      body,
    }).catch((error: Error) => error);
    if (!(answer instanceof Error) && answer.status === 200) return answer.json();
    const said = answer instanceof Error ? `no answer (${answer.message})` : `${answer.status}: ${await answer.text()}`;
    const isFinal = !(answer instanceof Error) && !LATER.has(answer.status);
    if (isFinal || tried === TRIES)
      throw new Error(`${said}; what was sent is kept, and the same command goes on there`);
    const asked = answer instanceof Error ? null : answer.headers.get('retry-after');
    const pause = asked === null ? pauseMs * 2 ** (tried - 1) : 1000 * Number(asked);
    await sleep(Math.min(pause, LONGEST_PAUSE_MS));
  }
}
