import { creditsOfMoney } from '../../../engine/credits/wallet-money.ts';
import type { Cents } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { selectedSectionView } from '../../customers/invoice-custom-sections/view.ts';
import { paymentMethodView } from '../wallets/view.ts';
import type { ConsumptionRow, TransactionRow } from './queries.ts';

const creditsText = (row: Pick<TransactionRow, 'rate_amount' | 'currency'>, amountCents: Cents): string =>
  decimalText(creditsOfMoney(amountCents, { rate: row.rate_amount, exponent: exponentOf(row.currency) }).credits);

/** A transaction as the API shows it. Rule: wallets.md#transactions. */
export const transactionView = (row: TransactionRow) => ({
  svc_id: row.id,
  svc_wallet_id: row.wallet_id,
  svc_invoice_id: row.invoice_id,
  svc_credit_note_id: row.credit_note_id,
  svc_voided_invoice_id: row.voided_invoice_id,
  billing_entity_code: row.billing_entity_code,
  transaction_type: row.transaction_type,
  transaction_status: row.transaction_status,
  status: row.status,
  source: row.source,
  amount: decimalText(row.amount),
  credit_amount: decimalText(row.credit_amount),
  remaining_amount_cents: row.remaining_amount_cents,
  remaining_credit_amount: row.remaining_amount_cents === null ? null : creditsText(row, row.remaining_amount_cents),
  priority: row.priority,
  name: row.name,
  metadata: row.metadata,
  invoice_requires_successful_payment: row.invoice_requires_successful_payment,
  payment_method: paymentMethodView(row),
  purchase_order_number: row.purchase_order_number,
  applied_invoice_custom_sections: row.custom_sections.map(selectedSectionView),
  settled_at: secondsOrNull(row.settled_at),
  failed_at: secondsOrNull(row.failed_at),
  created_at: seconds(row.created_at),
});

/** A consumption with the transaction at its other end. Rule: wallets.md#traceability. */
export const consumptionView = (row: ConsumptionRow, other: TransactionRow) => ({
  svc_id: row.id,
  amount_cents: row.amount_cents,
  credit_amount: creditsText(other, row.amount_cents),
  created_at: seconds(row.created_at),
  wallet_transaction: transactionView(other),
});
