import type { WalletAlertType } from '../../../engine/alerts/alert-types.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import { type InvoiceId, isUuid, type WalletTransactionId } from '../../../platform/ids.ts';
import { findTriggered } from '../../credits/evaluate-alerts/mailed-alerts.ts';
import { figureOfWallet } from '../../credits/evaluate-alerts/wallet-alerts.ts';
import { listTransactionsById } from '../../credits/wallet-transactions/queries.ts';
import { showWalletBurnDown } from '../../credits/wallets/burn-down.ts';
import { findWallet, readWallet, type WalletRow } from '../../credits/wallets/queries.ts';
import type { CustomerRow } from '../../customers/customers/queries.ts';
import { findProviderById } from '../../customers/payment-providers/queries.ts';
import { dueOf } from '../../invoices/invoices/amount-due.ts';
import { readInvoice } from '../../invoices/invoices/queries.ts';
import { fill } from '../../messaging/documents/number-and-date-formats.ts';
import { languageOf } from '../../messaging/documents/texts/by-locale.ts';
import { type MailContent, type MailLink, oneLine } from '../../messaging/mails/compose-mail.ts';
import { headline } from '../../messaging/mails/mail-page.ts';
import { payMark, portalMark } from '../../messaging/mails/pay-link.ts';
import { mailTextsOf } from '../../messaging/mails/texts/by-locale.ts';
import { payTextsOf } from '../../messaging/pay-texts/by-locale.ts';
import { canPayOnPage } from '../../payments/payments/ways-to-pay.ts';
import { portalTextsOf } from '../customer-portal/texts/by-locale.ts';
import { type About, type FindNotice, isAllowed, type LinkLife, linkBlock, readReader } from './notice.ts';

/** What the mails of a wallet say: amounts and credits as they are printed. */
interface WalletFacts {
  name: string;
  amount: string;
  credits: string;
  /** How long the balance lasts, as "4 days"; empty where that is not known, or is not the point. */
  lasts: string;
  /** Where something can be done about it. */
  link: MailLink;
  life: LinkLife;
}

/** The rate looks at more days whatever is asked for. */
const LEAST_DAYS = 7;

/** A wallet whose balance fell to a mark of the seller, while it is still as low. Rule: mails.md#templates. */
export const findWalletNotice: FindNotice = async (ctx, id, occasion) => {
  const wallet = isUuid(id) ? await findWallet(ctx, { id }) : undefined;
  if (wallet?.status !== 'active' || (occasion !== undefined && !(await isStillLow(ctx, wallet, occasion))))
    return undefined;
  const reader = await readReader(ctx, wallet.customer_id, wallet.billing_entity_id);
  return {
    billingEntityId: wallet.billing_entity_id,
    to: reader.to,
    resourceType: 'Wallet',
    async content() {
      const { about, formatOf } = await reader.about();
      const format = formatOf(wallet.currency);
      const { burn_down: burnDown } = await showWalletBurnDown(ctx, { svc_id: wallet.id, query: { days: LEAST_DAYS } });
      return lowContent(about, {
        ...(await pageOf(ctx, about, wallet)),
        name: walletName(about, wallet),
        amount: format.amount(wallet.ongoing_balance_cents),
        credits: format.units(wallet.credits_ongoing_balance),
        lasts: burnDown.days_left === null ? '' : format.days(burnDown.days_left),
      });
    },
  };
};

async function isStillLow(ctx: Context, wallet: WalletRow, occasion: string): Promise<boolean> {
  const triggered = await findTriggered(ctx, { occasion });
  if (!triggered) return false;
  const figure = figureOfWallet(wallet, triggered.alert_type as WalletAlertType);
  return triggered.crossed_thresholds.some(({ value }) => figure.lte(decimal(value)));
}

/** A purchase of credits that was refused, until it is paid. Rule: mails.md#templates. */
export const findTopUpNotice: FindNotice = async (ctx, id) => {
  const [transaction] = isUuid(id) ? await listTransactionsById(ctx, [id as WalletTransactionId]) : [];
  if (transaction?.transaction_status !== 'purchased' || transaction.status === 'settled') return undefined;
  const wallet = await readWallet(ctx, transaction.wallet_id);
  const reader = await readReader(ctx, transaction.customer_id, wallet.billing_entity_id);
  return {
    billingEntityId: wallet.billing_entity_id,
    to: reader.to,
    resourceType: 'WalletTransaction',
    async content() {
      const { about, formatOf } = await reader.about();
      const format = formatOf(wallet.currency);
      const pay =
        transaction.invoice_id === null ? undefined : await payOf(ctx, reader.customer, transaction.invoice_id);
      const page = await pageOf(ctx, about, wallet);
      return failedContent(about, {
        ...(pay === undefined
          ? page
          : {
              link: {
                mark: pay.mark,
                label: fill(payTextsOf(about.locale).payAmount, { amount: format.amount(pay.dueCents) }),
              },
              life: { days: ctx.config.PAY_LINK_DAYS },
            }),
        name: walletName(about, wallet),
        amount: format.amount(transaction.amount_cents),
        credits: format.units(transaction.credit_amount),
        lasts: '',
      });
    },
  };
};

/** Where the invoice of a purchase can be paid; undefined where it has no page. */
async function payOf(ctx: Context, customer: CustomerRow, invoiceId: InvoiceId) {
  const invoice = await readInvoice(ctx, invoiceId);
  const dueCents = dueOf(invoice);
  if (invoice.status !== 'finalized' || dueCents <= 0) return undefined;
  const { payment_provider_id: connectionId } = customer;
  const connection = connectionId === null ? undefined : await findProviderById(ctx, connectionId);
  const isPayable = canPayOnPage({ ...customer, connection }, { amountCents: dueCents, currency: invoice.currency });
  return isPayable ? { mark: payMark({ type: 'Invoice', id: invoice.id }), dueCents } : undefined;
}

/** The wallet's page, where credits can be bought if the seller allows that. */
async function pageOf(ctx: Context, { locale }: About, wallet: WalletRow): Promise<Pick<WalletFacts, 'link' | 'life'>> {
  const mayTopUp = await isAllowed(ctx, wallet.billing_entity_id, 'top_up');
  const label = mayTopUp ? portalTextsOf(locale).topUp : mailTextsOf(locale).openPages;
  return {
    link: { mark: portalMark(wallet.customer_id, { of: 'wallets', id: wallet.id }), label },
    life: { hours: ctx.config.PORTAL_TOKEN_TTL_HOURS },
  };
}

const walletName = ({ locale }: About, { name }: WalletRow): string =>
  oneLine(name || languageOf(locale, null).texts.prepaidCredits);

export const lowContent = (about: About, facts: WalletFacts): MailContent =>
  contentOf('wallet_low', about, facts, fill(portalTextsOf(about.locale).left, { amount: facts.amount }));

export const failedContent = (about: About, facts: WalletFacts): MailContent =>
  contentOf('top_up_failed', about, facts, facts.amount);

function contentOf(
  template: 'wallet_low' | 'top_up_failed',
  about: About,
  { name, amount, credits, lasts, link, life }: WalletFacts,
  text: string,
): MailContent {
  const note = [
    name,
    fill(portalTextsOf(about.locale).credits, { credits }),
    ...(lasts === '' ? [] : [fill(mailTextsOf(about.locale).notices.lasts, { days: lasts })]),
  ].join(' · ');
  return {
    ...about,
    template,
    values: { wallet: name, amount, credits },
    link,
    headline: { text: `${text}\n${note}`, html: [headline(text, note)] },
    blocks: [linkBlock(about.locale, link, life)],
    isOwnLink: 'hours' in life,
  };
}
