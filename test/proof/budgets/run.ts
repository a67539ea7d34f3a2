import { decimal } from '../../../src/engine/money/decimal.ts';
import { createClient } from '../../support/client.ts';
import { FULL_BOOK, measureBook } from './book-speed.ts';
import { measureMargins, WHOLE_MONTH } from './margin-speed.ts';
import { type Proof, prove } from './prove.ts';
import { measureSpeed, type Speed } from './speed.ts';
import { openStand } from './stand.ts';

// `npm run proof:budget [-- SECONDS [PER_SECOND]]`: prints what is proved of budgets, and how fast they are. The
// figures are those of docs/rules/budgets.md#proof.

const SECONDS = Number(process.argv[2] ?? 60);
/** Decisions, and events beside them, while their latency is measured. */
const PER_SECOND = Number(process.argv[3] ?? 200);
const print = (line: string) => process.stdout.write(`${line}\n`);

const stand = await openStand(4);
try {
  print(`4 ingresses, 4 pools of decisions, 64 callers, three runs of ${SECONDS} s`);
  const proof = await prove(stand, {
    callers: 64,
    seconds: SECONDS,
    kills: 12,
    cuts: 3,
    flushes: 2,
    restartsPostgres: true,
  });
  printLedger(proof);
  printSpeed(await measureSpeed(stand, PER_SECOND));
  const { sql, organization } = stand;
  const client = createClient(stand.urls[0]!, organization.api_key);
  const of = { sql, client, organizationId: organization.organization_id };
  const book = await measureBook(of, FULL_BOOK);
  const margins = await measureMargins(of, WHOLE_MONTH);
  print(
    `B8 margin by customer and model of ${margins.calls} calls in ${margins.dayRows} sums of days: ` +
      `${margins.tookMs.toFixed(0)} ms`,
  );
  print(
    `B9 calls healed a second, ${FULL_BOOK.calls} of ${FULL_BOOK.subscriptions} subscriptions: ` +
      `${book.healedPerSecond.toFixed(0)}; import of ${FULL_BOOK.models} models: ${book.importMs.toFixed(0)} ms`,
  );
  process.exitCode = proof.runs.every(({ checked }) => isProved(checked)) ? 0 : 1;
} finally {
  await stand.stop();
}

function isProved({ overspent, overspentInLedger, falseRefusals, drift }: Proof['runs'][number]['checked']): boolean {
  return [overspent, overspentInLedger ?? '0', drift].every((each) => decimal(each).isZero()) && falseRefusals === 0;
}

function printLedger({ runs, strikes }: Proof): void {
  print(`struck by: ${strikes.join(', ')}`);
  for (const { name, checked, report } of runs) {
    const repeated = [...report.repeated].map(([why, times]) => `${times} × ${why}`).join(', ') || 'nothing';
    print(`run "${name}": ${checked.windows} windows, ${checked.allowed} allowed, ${checked.refused} refused`);
    print(`  repeated by callers: ${repeated}`);
    print(
      `  B1 committed above a limit: ${checked.overspent} in answers, ${checked.overspentInLedger ?? '–'} in the ledger`,
    );
    print(`  B2 false refusals: ${checked.falseRefusals}`);
    print(`  B3 drift of windows, ledger, holds and events: ${checked.drift}`);
  }
}

function printSpeed({ decisions, latency, ingest }: Speed): void {
  print(
    `B4 decisions a second in one window, the function directly: ${decisions.together.toFixed(0)}; ` +
      `${(decisions.together / decisions.severalRoundTrips).toFixed(1)} × coalesced with several round trips, ` +
      `${(decisions.together / decisions.oneByOne).toFixed(1)} × one transaction a decision`,
  );
  print(
    `B5 p99 over HTTP at ${latency.perSecond}/s: a decision ${latency.decisionMs.toFixed(1)} ms, ` +
      `an event ${latency.eventMs.toFixed(1)} ms, ratio ${(latency.decisionMs / latency.eventMs).toFixed(2)}`,
  );
  print(
    `B6 events a second: ${ingest.without.toFixed(0)} without budgets, ${ingest.withBudgets.toFixed(0)} with three, ` +
      `ratio ${(ingest.withBudgets / ingest.without).toFixed(2)}`,
  );
}
