import { convert } from 'xmlbuilder2';
import { type Profile, profileFacts } from '../../../../src/engine/e-documents/profiles.ts';

// biome-ignore lint/suspicious/noExplicitAny: an element as the parser returns it, which the test looks into
type Element = any;

const listOf = (element: Element): Element[] =>
  element === undefined ? [] : Array.isArray(element) ? element : [element];
const textOf = (element: Element): string => (typeof element === 'object' ? element['#'] : element);
/** An amount as whole hundredths, out of its text alone. */
const hundredths = (element: Element): bigint => {
  if (element === undefined) return 0n;
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(textOf(element))!;
  const value = BigInt(whole! + part.padEnd(2, '0'));
  return sign === '-' ? -value : value;
};
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n);

/** What a receiver reads of a document: its amounts in whole hundredths, out of its text alone. */
export interface Read {
  lines: { amount: bigint; key: string }[];
  allowances: { amount: bigint; isCharge: boolean; key: string }[];
  rows: { net: bigint; tax: bigint; category: string; rate: string; key: string }[];
  total: Record<'lines' | 'allowances' | 'charges' | 'net' | 'tax' | 'gross' | 'paid' | 'rounding' | 'payable', bigint>;
}

/** A VAT row by category and rate: `S 19`; what is outside the tax has no rate. */
export const keyOf = (category: string, rate: Element): string =>
  category === 'O' ? 'O' : `${category} ${Number(textOf(rate) ?? 0)}`;

function readUbl(root: Element, kind: string): Read {
  const total = root['cac:LegalMonetaryTotal'];
  const ofTax = (tax: Element): string => keyOf(tax['cbc:ID'], tax['cbc:Percent']);
  return {
    lines: listOf(root[`cac:${kind}Line`]).map((line) => ({
      amount: hundredths(line['cbc:LineExtensionAmount']),
      key: ofTax(line['cac:Item']['cac:ClassifiedTaxCategory']),
    })),
    allowances: listOf(root['cac:AllowanceCharge']).map((each) => ({
      amount: hundredths(each['cbc:Amount']),
      isCharge: each['cbc:ChargeIndicator'] === 'true',
      key: ofTax(each['cac:TaxCategory']),
    })),
    rows: listOf(root['cac:TaxTotal']['cac:TaxSubtotal']).map((row) => ({
      net: hundredths(row['cbc:TaxableAmount']),
      tax: hundredths(row['cbc:TaxAmount']),
      category: row['cac:TaxCategory']['cbc:ID'],
      rate: textOf(row['cac:TaxCategory']['cbc:Percent'] ?? '0'),
      key: ofTax(row['cac:TaxCategory']),
    })),
    total: {
      lines: hundredths(total['cbc:LineExtensionAmount']),
      allowances: hundredths(total['cbc:AllowanceTotalAmount']),
      charges: hundredths(total['cbc:ChargeTotalAmount']),
      net: hundredths(total['cbc:TaxExclusiveAmount']),
      tax: hundredths(root['cac:TaxTotal']['cbc:TaxAmount']),
      gross: hundredths(total['cbc:TaxInclusiveAmount']),
      paid: hundredths(total['cbc:PrepaidAmount']),
      rounding: hundredths(total['cbc:PayableRoundingAmount']),
      payable: hundredths(total['cbc:PayableAmount']),
    },
  };
}

function readCii(root: Element): Read {
  const trade = root['rsm:SupplyChainTradeTransaction'];
  const settlement = trade['ram:ApplicableHeaderTradeSettlement'];
  const total = settlement['ram:SpecifiedTradeSettlementHeaderMonetarySummation'];
  const ofTax = (tax: Element): string => keyOf(tax['ram:CategoryCode'], tax['ram:RateApplicablePercent']);
  return {
    lines: listOf(trade['ram:IncludedSupplyChainTradeLineItem']).map((line) => ({
      amount: hundredths(
        line['ram:SpecifiedLineTradeSettlement']['ram:SpecifiedTradeSettlementLineMonetarySummation'][
          'ram:LineTotalAmount'
        ],
      ),
      key: ofTax(line['ram:SpecifiedLineTradeSettlement']['ram:ApplicableTradeTax']),
    })),
    allowances: listOf(settlement['ram:SpecifiedTradeAllowanceCharge']).map((each) => ({
      amount: hundredths(each['ram:ActualAmount']),
      isCharge: each['ram:ChargeIndicator']['udt:Indicator'] === 'true',
      key: ofTax(each['ram:CategoryTradeTax']),
    })),
    rows: listOf(settlement['ram:ApplicableTradeTax']).map((row) => ({
      net: hundredths(row['ram:BasisAmount']),
      tax: hundredths(row['ram:CalculatedAmount']),
      category: row['ram:CategoryCode'],
      rate: textOf(row['ram:RateApplicablePercent'] ?? '0'),
      key: ofTax(row),
    })),
    total: {
      lines: hundredths(total['ram:LineTotalAmount']),
      allowances: hundredths(total['ram:AllowanceTotalAmount']),
      charges: hundredths(total['ram:ChargeTotalAmount']),
      net: hundredths(total['ram:TaxBasisTotalAmount']),
      tax: hundredths(total['ram:TaxTotalAmount']),
      gross: hundredths(total['ram:GrandTotalAmount']),
      paid: hundredths(total['ram:TotalPrepaidAmount']),
      rounding: hundredths(total['ram:RoundingAmount']),
      payable: hundredths(total['ram:DuePayableAmount']),
    },
  };
}

/** Sums that do not hold in a file, by the rule that wants them; computed from its text, not by the engine. */
export function brokenSums({ lines, allowances, rows, total }: Read, unit: bigint): string[] {
  const off = (isCharge: boolean) =>
    sum(allowances.filter((each) => each.isCharge === isCharge).map(({ amount }) => amount));
  const holds: [string, boolean][] = [
    ['BR-CO-10', sum(lines.map(({ amount }) => amount)) === total.lines],
    ['BR-CO-11', off(false) === total.allowances],
    ['BR-CO-12', off(true) === total.charges],
    ['BR-CO-13', total.lines - total.allowances + total.charges === total.net],
    ['BR-CO-14', sum(rows.map(({ tax }) => tax)) === total.tax],
    ['BR-CO-15', total.net + total.tax === total.gross],
    ['BR-CO-16', total.gross - total.paid + total.rounding === total.payable],
    ['rows are different', new Set(rows.map(({ key }) => key)).size === rows.length],
    ['every line has its row', [...lines, ...allowances].every(({ key }) => rows.some((row) => row.key === key))],
    ...rows.flatMap(({ net, tax, category, rate, key }): [string, boolean][] => {
      const here = (each: { key: string }) => each.key === key;
      const base =
        sum(lines.filter(here).map(({ amount }) => amount)) +
        sum(allowances.filter(here).map(({ amount, isCharge }) => (isCharge ? amount : -amount)));
      // In hundred thousandths of a hundredth: rates have three decimals at most.
      const exact = net * BigInt(Math.round(Number(rate) * 1000));
      const tooFar = exact - tax * 100_000n;
      return [
        [`BR-${category}-08`, base === net],
        [`BR-${category}-09`, (tooFar < 0n ? -tooFar : tooFar) < unit * 100_000n],
        [`BR-${category}-09 zero`, category === 'S' || tax === 0n],
      ];
    }),
  ];
  return holds.filter(([, isHeld]) => !isHeld).map(([rule]) => rule);
}

/** The amounts of a document in a profile. */
export function readDocument(xml: string, profile: Profile): Read {
  const parsed = convert(xml, { format: 'object' }) as Element;
  const [name, root] = Object.entries<Element>(parsed).find(([each]) => /^\w/.test(each))!;
  return profileFacts[profile].syntax === 'cii' ? readCii(root) : readUbl(root, name);
}
