import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { IntegrationId, InvoiceId, OrganizationId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { EstimatedTaxes, TaxAnswer, TaxDocument } from '../../../platform/taxes/port.ts';
import { engineOf } from '../../customers/integrations/engine.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { resumeInvoice } from '../finalize-invoice/finalize-pending.ts';
import { documentOfInvoice, hasTaxedAmount } from '../request-taxes/request-taxes.ts';

/** Longest wait of a preview for a tax engine. */
const TIMEOUT_MS = 3000;

/** Ends the transaction of a preview, since a tax engine is asked outside of any; the preview then runs once more. */
export class TaxesWanted extends Error {
  override name = 'TaxesWanted';
  readonly integrationId: IntegrationId;
  readonly document: TaxDocument;

  constructor(integrationId: IntegrationId, document: TaxDocument) {
    super('a tax engine has to be asked');
    this.integrationId = integrationId;
    this.document = document;
  }
}

/**
 * Asks the engine of a previewed invoice, without a record there.
 *
 * @throws Refusal 422 tax_error, with the engine's code
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function estimateTaxes(
  deps: Parameters<typeof engineOf>[0] & { db: Db },
  organization: { id: OrganizationId; sandbox: boolean },
  { integrationId, document }: TaxesWanted,
): Promise<EstimatedTaxes> {
  const engine = await engineOf(deps, organization, integrationId);
  const outcome = await engine?.estimate(document, TIMEOUT_MS);
  if (outcome?.kind === 'answered') return { document, answer: outcome.answer };
  throw refuse.invalid({ tax_error: [outcome?.fault.code ?? 'unauthorized'] });
}

/**
 * Gives a previewed invoice that waits for its taxes those that the engine estimated for the same lines.
 *
 * @throws TaxesWanted, when nobody was asked yet
 * @throws Refusal 503, when the lines are others than those that the engine was asked about
 */
export async function taxPreview(ctx: Context, id: InvoiceId): Promise<void> {
  const invoice = await readInvoice(ctx, id);
  if (invoice.status !== 'pending') return;
  const asked = await documentOfInvoice(ctx, invoice, { id: `svc:${id}:preview`, date: invoice.issuing_date });
  if (!asked) return;
  const { document, facts } = asked;
  const estimated = hasTaxedAmount(invoice) ? ctx.estimatedTaxes : { document, answer: { lines: [] } };
  if (estimated === undefined) throw new TaxesWanted(facts.integration_id, document);
  const answer = answerFor(document, estimated);
  if (!answer) throw refuse.unavailable();
  await resumeInvoice(ctx, id, { document, answer, integrationId: facts.integration_id, staysUnnumbered: true });
}

/** The answer about the same lines, whose ids are made anew with each run; undefined if they differ. */
function answerFor(document: TaxDocument, { document: asked, answer }: EstimatedTaxes): TaxAnswer | undefined {
  const placeOf = new Map(asked.lines.map(({ id }, place) => [id, place]));
  const isSame =
    asked.lines.length === document.lines.length &&
    asked.lines.every(
      ({ productId, netCents }, place) =>
        productId === document.lines[place]!.productId && netCents === document.lines[place]!.netCents,
    );
  if (!isSame) return undefined;
  return { lines: answer.lines.map((line) => ({ ...line, id: document.lines[placeOf.get(line.id)!]!.id })) };
}
