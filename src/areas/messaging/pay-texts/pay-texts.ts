/** A message of a page: its heading and a sentence. */
interface Message {
  title: string;
  text: string;
}

/**
 * Every word about paying in one language: of the page where invoices are paid, of the mail that asks for payment, and
 * of the link in documents. Braces are filled in.
 */
export interface PayTexts {
  /** `{amount}`: the button. */
  payAmount: string;
  /** `{date}`: the link in the PDF of an invoice. */
  payHereUntil: string;
  /** `{count}` further invoices. */
  more: string;
  paid: Message;
  processing: Message;
  /** `{date}`: the day on which a bank debit is expected to arrive. */
  expectedOn: string;
  /** The bank wants its customer's consent; `button` leads there. */
  confirm: Message & { button: string };
  voided: Message;
  nothingDue: Message;
  /** `holder` stands before the account holder's name. */
  transfer: Message & { holder: string };
  /** `{issuer}`. */
  ask: string;
  opening: Message & { link: string };
  tryAgain: Message & { button: string };
  expired: Message;
  mail: {
    refused: string;
    /** `{days}`. */
    payHere: string;
    /** Where the PDFs are. */
    onPage: string;
    /** Leads to that page, where nothing can be paid on it. */
    view: string;
    /** `{days}`. */
    worksFor: string;
  };
}
