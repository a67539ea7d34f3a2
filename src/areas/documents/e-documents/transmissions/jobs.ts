import type { Redis } from 'ioredis';
import { assert } from '../../../../engine/assert.ts';
import { profileFacts } from '../../../../engine/e-documents/profiles.ts';
import { isSandbox } from '../../../../platform/clock/organization-clock.ts';
import { realNow } from '../../../../platform/clock/real-clock.ts';
import { takeInTurn } from '../../../../platform/db/rows-in-turn.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import type { OrganizationId, TransmissionId } from '../../../../platform/ids.ts';
import { paced } from '../../../../platform/payments/paced-jobs.ts';
import { openProviderCalls } from '../../../../platform/payments/provider-calls.ts';
import type { SweepJob } from '../../../../platform/periodic-job.ts';
import type { Handlers } from '../../../../platform/queue/worker.ts';
import type { SystemDeps } from '../../../../platform/records/system-transaction.ts';
import { transactAtPresent } from '../../../../platform/records/transact.ts';
import type { Sender, SendOutcome, SentDocument } from '../../../../platform/senders/port.ts';
import type { JobPayload } from '../../../../queues.ts';
import { senderOf } from '../../../customers/integrations/access-points.ts';
import { noteCall, timed } from '../../../customers/integrations/engine.ts';
import type { Call } from '../../../customers/integrations/writes.ts';
import { factsOf } from '../commands.ts';
import { findContent, findEDocument } from '../queries.ts';
import { recordTransmission } from './announce.ts';
import { findTransmission, type TransmissionRow } from './queries.ts';
import { afterReport, afterSending, failed } from './take-steps.ts';
import { type Change, changeTransmission } from './writes.ts';

/** How many due sendings of one organization a minute puts into the queue; more wait for the next. */
const AT_ONCE_OF_ORGANIZATION = 200;

const NO_ACCESS_POINT = { code: 'no_access_point', message: 'The connection to the access point was ended.' };
const NO_ADDRESS = { code: 'no_receiver_address', message: 'The document names no electronic address to send it to.' };
const UNKNOWN_RECEIVER = {
  code: 'unknown_receiver',
  message: 'Nobody takes documents of this profile at the electronic address of the receiver.',
};

/** What a try came to: the change, and the calls that it made. */
interface Tried {
  change: Change;
  made: { outcome: SendOutcome<unknown>; call: Call }[];
}

/**
 * Handler of `e-document.send`: hands a due document over to the access point, or asks what became of one that was
 * taken. No transaction is open meanwhile. If it runs twice, the access point knows the id, and the first change stays.
 *
 * Rule: e-documents.md#sending.
 */
export function transmissionHandlers(deps: SystemDeps & { redis: Redis }): Pick<Handlers, 'e-document.send'> {
  const { REDIS_PREFIX: prefix, PROVIDER_CALLS_PER_SECOND: perSecond } = deps.config;
  const callsOf = openProviderCalls(deps.redis, { prefix, perSecond });
  return {
    'e-document.send': paced(
      callsOf,
      async ({ organization_id: organizationId, transmission_id: id }: JobPayload<'e-document.send'>, calls, info) => {
        const scope = { db: deps.sql, organizationId };
        const found = await findTransmission(scope, id);
        if (!found?.next_at || found.next_at.epochMilliseconds > realNow().epochMilliseconds) return;
        const organization = { id: organizationId, sandbox: await isSandbox(scope) };
        const sender = await senderOf({ db: deps.sql, config: deps.config }, organization, found.integration_id);
        if (!sender) return keep(deps, organizationId, found, { change: withoutSender(found), made: [] });
        await calls.takeTurn(found.integration_id);
        const tried = found.status === 'queued' ? await sendNow(scope, found, sender) : await askNow(found, sender);
        const last = tried.made.at(-1)?.outcome;
        if (last?.kind === 'unreachable' && last.trace.httpStatus === 429) {
          const pauseMs = await calls.pauseAfterRefusal(last.retryAfterMs);
          if (pauseMs !== undefined) return info.comeBack(pauseMs);
        }
        await keep(deps, organizationId, found, tried);
      },
    ),
  };
}

/** A document that nobody took has failed; of one that was taken nothing more is heard. */
const withoutSender = (found: TransmissionRow): Change =>
  found.status === 'queued' ? failed(NO_ACCESS_POINT) : { status: found.status, error: found.error, nextAt: null };

async function sendNow(scope: Scope, found: TransmissionRow, sender: Sender): Promise<Tried> {
  const document = await documentOf(scope, found);
  if (!document) return { change: failed(NO_ADDRESS), made: [] };
  const call = (operation: string) => ({ operation, resourceId: found.e_document_id });
  const looked = await timed(call('participant.lookup'), () => sender.lookup(document.receiver, document.profile));
  if (looked.outcome.kind !== 'answered')
    return { change: afterSending(found, looked.outcome, realNow()), made: [looked] };
  if (!looked.outcome.answer.isReachable) return { change: failed(UNKNOWN_RECEIVER), made: [looked] };
  const sent = await timed(call('document.send'), () => sender.send(document));
  return { change: afterSending(found, sent.outcome, realNow()), made: [looked, sent] };
}

async function askNow(found: TransmissionRow, sender: Sender): Promise<Tried> {
  const { provider_id: providerId } = found;
  assert(providerId !== null, 'a document that was taken has an id there');
  const call = { operation: 'document.read', resourceId: found.e_document_id };
  const asked = await timed(call, () => sender.status(providerId));
  return { change: afterReport(found, asked.outcome, realNow()), made: [asked] };
}

/** What is handed over; undefined where the receiver has no address. A self-billed document goes to its seller. */
async function documentOf(scope: Scope, found: TransmissionRow): Promise<SentDocument | undefined> {
  const row = await findEDocument(scope, found.e_document_id);
  const content = await findContent(scope, found.e_document_id);
  assert(row && content, 'a document that is sent was made');
  const subject = { type: row.subject_type, id: row.subject_id, kind: row.kind };
  const { typeCode, seller, buyer } = await factsOf(scope, subject, row.profile);
  const isSelfBilled = typeCode === '389' || typeCode === '261';
  const [from, to] = isSelfBilled ? [buyer, seller] : [seller, buyer];
  if (!to.endpoint) return undefined;
  const { isPdf } = profileFacts[row.profile];
  return {
    id: found.id,
    number: row.number,
    kind: row.kind,
    profile: row.profile,
    fileName: `${row.number}.${isPdf ? 'pdf' : 'xml'}`,
    contentType: isPdf ? 'application/pdf' : 'application/xml',
    sha256: row.sha256!,
    content,
    sender: from.endpoint,
    receiver: to.endpoint,
  };
}

/** Keeps what a try came to, lists its calls, and announces a change of state. */
const keep = (deps: SystemDeps, organizationId: OrganizationId, found: TransmissionRow, { change, made }: Tried) =>
  transactAtPresent(deps, organizationId, async (ctx) => {
    for (const each of made) await noteCall(ctx, found.integration_id, each);
    const isKept = await changeTransmission(ctx, found, change, ctx.now());
    if (isKept && change.status !== found.status) await recordTransmission(ctx, found.e_document_id);
  });

/** Puts documents that are due into the queue, of each organization no more than its share. */
export const sendEDocuments: SweepJob = {
  name: 'send-e-documents',
  async sweep({ sql, producer }, at) {
    const due = await takeInTurn<TransmissionId>(sql, at, {
      table: 'e_document_transmissions',
      mostOfOrganization: AT_ONCE_OF_ORGANIZATION,
      due: sql`record.next_at <= ${at}`,
    });
    await producer.addMany(
      'e-document.send',
      due.map(({ organization_id, id }) => ({
        payload: { organization_id, transmission_id: id },
        options: { id: `transmission-${id}`, forgetFailed: true, inBackground: true },
      })),
    );
  },
};
