import { z } from 'zod';
import type { Config } from '../config.ts';
import { CredentialsRefused, ProviderConflict, ProviderRefusal, TooManyCalls } from '../payments/port.ts';
import { customClient } from '../payments/signed-operations.ts';
import { Outage } from '../refusal.ts';
import { REPORTED, type Report, type Sender, type SendOutcome } from './port.ts';

/** Longest name or reason of an access point that is kept. */
const WORD_MAX = 255;
const TEXT_MAX = 500;

const word = z.string().min(1).max(WORD_MAX);
const Taken = z.object({ id: word });
const Participant = z.object({ reachable: z.boolean() });
/** A text that is short enough to be kept; a sign is never cut in half, which no column holds. */
const cut = (text: string, most: number): string => text.slice(0, most).toWellFormed();

/** What became of a document, in an answer and in a report that comes by itself. */
export const ReportedState = z.object({
  status: z.enum(REPORTED),
  reason: z.object({ code: z.string(), message: z.string() }).nullish(),
});
const Anything = z.unknown();

const traceOf = (httpStatus: number | null) => ({ httpStatus, body: null });

/**
 * An access point of anybody, which answers our protocol: `check`, `participant.lookup`, `document.send` and
 * `document.read`, signed and answered like the operations of a custom payment provider.
 *
 * Rules: e-documents.md#protocol-of-access-points, provider-connections.md#custom-provider.
 */
export function customSender(
  target: { endpointUrl: string; secret: string; connection: string; isLive: boolean },
  config: Config,
): Sender {
  const post = customClient(target, config);

  async function ask<Shape extends z.ZodType, Answer>(
    sent: { type: string; id: string; data: object },
    shape: Shape,
    read: (body: z.infer<Shape>) => Answer,
    taken?: (id: string) => Answer,
  ): Promise<SendOutcome<Answer>> {
    try {
      const answer = await post(sent, shape);
      if (!answer.isAccepted) return { kind: 'answered', answer: read(answer.body), trace: traceOf(200) };
      if (taken) return { kind: 'answered', answer: taken(answer.id), trace: traceOf(202) };
      return unknown('unreadable_answer', 'the answer is not what was asked for', 202);
    } catch (error) {
      return outcomeOf(error);
    }
  }

  return {
    check: () => ask({ type: 'check', id: 'check', data: {} }, Anything, () => null),
    lookup: (receiver, profile) =>
      ask(
        { type: 'participant.lookup', id: `lookup-${receiver.scheme}-${receiver.id}`, data: { receiver, profile } },
        Participant,
        ({ reachable }) => ({ isReachable: reachable }),
      ),
    send: ({ id, number, kind, profile, fileName, contentType, sha256, content, sender, receiver }) =>
      ask(
        {
          type: 'document.send',
          id,
          data: {
            number,
            kind,
            profile,
            file_name: fileName,
            content_type: contentType,
            sha256,
            sender,
            receiver,
            content: Buffer.from(content).toString('base64'),
          },
        },
        Taken,
        (taken) => ({ providerId: taken.id }),
        (id) => ({ providerId: id }),
      ),
    status: (providerId) =>
      ask({ type: 'document.read', id: `read-${providerId}`, data: { id: providerId } }, ReportedState, readReport),
  };
}

export const readReport = ({ status, reason }: z.infer<typeof ReportedState>): Report => ({
  status,
  reason: reason ? { code: cut(reason.code, WORD_MAX), message: cut(reason.message, TEXT_MAX) } : null,
});

const unknown = (code: string, message: string, httpStatus: number | null) =>
  ({ kind: 'unreachable', fault: { code, message }, trace: traceOf(httpStatus) }) as const;

function outcomeOf(error: unknown): SendOutcome<never> {
  const refused = (httpStatus: number, { code, message }: { code: string; message: string }) =>
    ({
      kind: 'refused',
      fault: { code: cut(code, WORD_MAX), message: cut(message, TEXT_MAX) },
      trace: traceOf(httpStatus),
    }) as const;
  if (error instanceof CredentialsRefused)
    return { ...refused(error.error.httpStatus ?? 401, error.error), isUnauthorized: true };
  if (error instanceof ProviderConflict) return refused(409, error.error);
  if (error instanceof ProviderRefusal) return refused(422, error.error);
  if (error instanceof TooManyCalls)
    return {
      ...unknown('too_many_requests', error.message, 429),
      ...(error.saidMs === undefined ? {} : { retryAfterMs: error.saidMs }),
    };
  if (error instanceof Outage) return unknown('unreachable', cut(error.message, TEXT_MAX), null);
  throw error;
}
