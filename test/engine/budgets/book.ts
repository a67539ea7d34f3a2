import type { BudgetBook, DecidedHold } from '../../../src/engine/budgets/decide.ts';
import { decimal } from '../../../src/engine/money/decimal.ts';

interface WindowGiven {
  limit: string;
  spent?: string;
  held?: string;
  isHard?: boolean;
}

/** A book of windows with these figures, at instant 0, and holds in them. */
export const bookOf = (windows: readonly WindowGiven[], holds: (DecidedHold | undefined)[] = []): BudgetBook => ({
  windows: windows.map(({ limit, spent = '0', held = '0', isHard = true }) => ({
    limit: decimal(limit),
    spent: decimal(spent),
    held: decimal(held),
    isHard,
    decisionNo: 0,
  })),
  holds,
  nowMs: 0,
});

/** An open hold of these amounts by window, that ends after a minute or at `expiresAtMs`. */
export const heldIn = (parts: Record<number, string>, expiresAtMs = 60_000): DecidedHold => ({
  status: 'open',
  expiresAtMs,
  questionDigest: 'asked',
  settlementDigest: null,
  parts: Object.entries(parts).map(([window, held]) => ({
    window: Number(window),
    held: decimal(held),
    settled: null,
    isOpen: true,
  })),
});
