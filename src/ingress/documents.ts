import { setTimeout as sleep } from 'node:timers/promises';
import type { Express, Request, Response } from 'express';
import { readFile, type StoredFile } from '../areas/messaging/documents/queries.ts';
import { checkDocumentLink, DOCUMENTS_PATH } from '../areas/messaging/documents/signed-link.ts';
import { realNowMs } from '../platform/clock/real-clock.ts';
import type { Sql } from '../platform/db/connect.ts';
import type { DocumentId } from '../platform/ids.ts';
import { refuse } from '../platform/refusal.ts';
import { headerName } from '../platform/wire-prefix.ts';
import type { EdgeDeps } from './edge-deps.ts';
import type { EdgeLocals } from './rate-limit.ts';
import { answerOfError } from './refusals.ts';
import { requestIdOf } from './request-id.ts';
import { send } from './send-answer.ts';

/** Longest wait for a document that is still being drawn; slower ones are returned to a later request. */
const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 100;
/** Header that lists the characters of a file that no font has, percent-encoded because headers allow no others. */
const MISSING = 'X-Svc-Missing-Characters';

/**
 * `/documents/{id}`: the file behind a signed link, for browsers without a key. Counts for the caller's address, as
 * every call without a key does. Drawing happens in the documents pool, never here.
 */
export function mountDocuments(
  root: Express,
  deps: Pick<EdgeDeps, 'sql' | 'config' | 'log' | 'limiters' | 'wire'>,
): void {
  root.get(`${DOCUMENTS_PATH}/:id`, async (request, response) => {
    const requestId = requestIdOf(request);
    response.setHeader('X-Request-Id', requestId);
    try {
      await deps.limiters.address(request, response);
      await serve(deps, request, response);
    } catch (error) {
      const answer = answerOfError(error, deps.log, { requestId });
      const text = JSON.stringify(answer.body);
      send(
        response,
        deps.wire.answer({ status: answer.status, text, headers: answer.headers }),
        (response.locals as EdgeLocals).rate,
      );
    }
  });
}

async function serve(
  { sql, config }: Pick<EdgeDeps, 'sql' | 'config'>,
  request: Request,
  response: Response,
): Promise<void> {
  // The app parses no queries; this route reads its own.
  const query = new URL(request.originalUrl, 'http://documents').searchParams;
  const documentId = request.params.id as string;
  const link = { documentId, expires: onlyOf(query, 'expires'), signature: onlyOf(query, 'signature') };
  await checkDocumentLink({ db: sql, config }, link);
  const file = await awaitFile(sql, documentId, { response, patienceMs: PATIENCE_MS });
  if (!file) throw refuse.unavailable();
  response.setHeader('Cache-Control', 'private, max-age=3600');
  if (file.missing_characters !== '')
    response.setHeader(headerName(MISSING, config.WIRE_PREFIX), encodeURIComponent(file.missing_characters));
  sendFile(response, file, 'inline');
}

/** The value of a parameter that was sent once; null otherwise, for a link that was added to is no link of ours. */
function onlyOf(query: URLSearchParams, name: string): string | null {
  const [value, ...others] = query.getAll(name);
  return value !== undefined && others.length === 0 ? value : null;
}

/** A complete file. */
type DrawnFile = StoredFile & { content: Uint8Array };

/**
 * The file of a document once it has been drawn; undefined if that takes longer than `patienceMs` or the caller leaves.
 *
 * @throws Refusal 404 document
 */
export async function awaitFile(
  sql: Sql,
  documentId: DocumentId,
  { response, patienceMs }: { response: Response; patienceMs: number },
): Promise<DrawnFile | undefined> {
  const untilMs = realNowMs() + patienceMs;
  for (;;) {
    const file = await readFile(sql, documentId);
    if (!file) throw refuse.notFound('document');
    if (file.content !== null) return { ...file, content: file.content };
    if (realNowMs() >= untilMs || response.destroyed) return undefined;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Sends a file for the browser to show, or to keep. */
export function sendFile(response: Response, file: DrawnFile, disposition: 'inline' | 'attachment'): void {
  response.setHeader('Content-Type', file.content_type);
  response.setHeader('Content-Disposition', `${disposition}; filename="${file.file_name.replace(/[^\w.-]/g, '_')}"`);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.end(file.content);
}
