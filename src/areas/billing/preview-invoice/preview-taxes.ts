import type { Context } from '../../../platform/context.ts';
import type { IntegrationId, InvoiceId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { EstimatedTaxes, TaxAnswer, TaxDocument } from '../../../platform/taxes/port.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { resumeInvoice } from '../finalize-invoice/finalize-pending.ts';
import { documentOfInvoice, hasTaxedAmount } from '../request-taxes/request-taxes.ts';

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
