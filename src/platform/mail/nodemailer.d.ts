/** The calls that are used; the published types lag behind the library. */
declare module 'nodemailer' {
  export interface SendingError extends Error {
    code?: string;
    /** Reply of the server, as 451 or 550. */
    responseCode?: number;
    /** The address that a reply is about. */
    recipient?: string;
    rejectedErrors?: SendingError[];
  }
  interface Transport {
    /** Resolves if at least one address was accepted. */
    sendMail(mail: object): Promise<{ rejectedErrors?: SendingError[] }>;
    close(): void;
  }
  const nodemailer: { createTransport(options: object): Transport };
  export default nodemailer;
}
