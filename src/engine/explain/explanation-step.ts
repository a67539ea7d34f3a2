import { type Decimal, decimalText } from '../money/decimal.ts';

/** An input of a step: decimals are texts. */
export type StepInputs = Readonly<Record<string, unknown>>;

/** One step of the computation of an amount. Rule: fee-explanations.md. */
export interface Step {
  position: number;
  /** Its kind in the table of fee-explanations.md. */
  code: string;
  inputs: StepInputs;
  /** A decimal as a text, or a name. */
  output: string;
  /** Code of the rule it follows. Rule: fee-explanations.md#codes-of-rules. */
  rule?: string;
  /** Steps within the step. */
  steps?: Step[];
}

/** Collects the steps of one explanation in order. */
export interface Recorder {
  readonly steps: Step[];
  add(code: string, inputs: StepInputs, output: Decimal | string, rule?: string): void;
  /** A step with steps inside. */
  addNested(code: string, inputs: StepInputs, output: Decimal, inner: readonly Step[], rule?: string): void;
}

export function newRecorder(): Recorder {
  const steps: Step[] = [];
  const push = (step: Omit<Step, 'position'>) => steps.push({ position: steps.length + 1, ...step });
  return {
    steps,
    add: (code, inputs, output, rule) =>
      push({ code, inputs: shown(inputs), output: outputOf(output), ...(rule === undefined ? {} : { rule }) }),
    addNested: (code, inputs, output, inner, rule) =>
      push({
        code,
        inputs: shown(inputs),
        output: outputOf(output),
        ...(rule === undefined ? {} : { rule }),
        steps: [...inner],
      }),
  };
}

const outputOf = (output: Decimal | string): string => (typeof output === 'string' ? output : decimalText(output));

const isDecimal = (value: unknown): value is Decimal =>
  typeof value === 'object' && value !== null && 'toDecimalPlaces' in value;

const shownValue = (value: unknown): unknown =>
  isDecimal(value) ? decimalText(value) : Array.isArray(value) ? value.map(shownValue) : (value ?? null);

const shown = (inputs: StepInputs): StepInputs =>
  Object.fromEntries(Object.entries(inputs).map(([key, value]) => [key, shownValue(value)]));
