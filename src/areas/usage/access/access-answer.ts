import { Temporal } from 'temporal-polyfill';
import { type AccessReason, reasonsOfFeature, standingOf } from '../../../engine/access/reasons-to-deny.ts';
import { shownValue } from '../../../engine/entitlements/privilege-value.ts';
import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import { milliseconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { AccessFacts, GrantedFeature } from './access-facts.ts';
import type { WalletStanding } from './queries.ts';
import type { AccessCheck, AccessView } from './schema.ts';

type Finding = Partial<Pick<AccessView, 'entitlement' | 'usage' | 'wallet'>> & { reasons: AccessReason[] };

/**
 * The answer of an access check from facts, whether they were cached or just read.
 *
 * now  the organization's present
 * Rule: access-check.md.
 */
export function answerOf(
  facts: AccessFacts,
  asked: AccessCheck,
  { source, now }: { source: AccessView['source']; now: Temporal.Instant },
): { access: AccessView } {
  const { subscription } = facts;
  const findings = subscription
    ? [aboutFeature(facts, asked), aboutWallets(facts.wallets, subscription.currency, asked), aboutInvoices(facts)]
    : [{ reasons: ['subscription_not_active' as const] }];
  const reasons = findings.flatMap((finding) => finding.reasons);
  const found: Omit<Finding, 'reasons'> = Object.assign({}, ...findings);
  return {
    access: {
      allowed: reasons.length === 0,
      reasons,
      entitlement: found.entitlement ?? null,
      usage: found.usage ?? null,
      wallet: found.wallet ?? null,
      svc_hold_id: null,
      source,
      as_of: milliseconds(now),
    },
  };
}

function aboutFeature(facts: AccessFacts, asked: AccessCheck): Finding {
  const { feature_code: code } = asked;
  if (!code) return { reasons: [] };
  const feature = facts.features.find((each) => each.code === code);
  const needed = asked.privilege_code ? { code: asked.privilege_code, value: asked.value ?? undefined } : undefined;
  const limits = feature ? standings(facts, feature, asked.units) : [];
  return {
    reasons: [
      ...reasonsOfFeature(feature?.privileges, needed),
      ...(limits.some(({ isReached }) => isReached) ? (['usage_limit_reached'] as const) : []),
    ],
    entitlement: {
      feature_code: code,
      granted: feature !== undefined,
      privileges: Object.fromEntries(
        (feature?.privileges ?? []).map(({ code, type, text }) => [code, shownValue(type, text)]),
      ),
    },
    usage: limits.map(({ shown }) => shown),
  };
}

function standings({ windows }: AccessFacts, feature: GrantedFeature, units: string) {
  const requested = decimal(units);
  return feature.limits.map(({ period, most, resetsAt, window }) => {
    const { metric, used } = windows[window]!;
    const limit = decimal(most);
    const { isReached, remaining } = standingOf(limit, used, requested);
    return {
      isReached,
      shown: {
        billable_metric_code: metric.code,
        period,
        limit: decimalText(limit),
        used: decimalText(used),
        requested: decimalText(requested),
        remaining: decimalText(remaining),
        resets_at: secondsOrNull(resetsAt === null ? null : Temporal.Instant.from(resetsAt)),
      },
    };
  });
}

/** The named wallet, else those in the plan's currency. */
export const walletsMeant = (wallets: readonly WalletStanding[], planCurrency: string, asked: AccessCheck) =>
  wallets.filter((wallet) =>
    asked.wallet_code ? wallet.code === asked.wallet_code : wallet.currency === planCurrency,
  );

function aboutWallets(wallets: readonly WalletStanding[], planCurrency: string, asked: AccessCheck): Finding {
  const code = asked.wallet_code || null;
  if (code === null && (asked.amount_cents ?? null) === null) return { reasons: [] };
  const requested = asked.amount_cents ?? 0;
  const meant = walletsMeant(wallets, planCurrency, asked);
  const total = (figure: (wallet: WalletStanding) => number) => meant.reduce((sum, wallet) => sum + figure(wallet), 0);
  const ongoing = total((wallet) => wallet.ongoing_balance_cents);
  const held = total((wallet) => wallet.held_cents);
  return {
    reasons: meant.length === 0 ? ['wallet_not_found'] : ongoing - held < requested ? ['wallet_insufficient'] : [],
    wallet: {
      wallet_code: code,
      currency: meant[0]?.currency ?? planCurrency,
      balance_cents: total((wallet) => wallet.balance_cents),
      ongoing_balance_cents: ongoing,
      held_cents: held,
      available_cents: ongoing - held,
      requested_cents: requested,
    },
  };
}

const aboutInvoices = ({ isOverdue }: AccessFacts): Finding => ({ reasons: isOverdue ? ['overdue'] : [] });
