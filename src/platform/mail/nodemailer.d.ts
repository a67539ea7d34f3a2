/** The calls that we use: the published types lag behind the library. */
declare module 'nodemailer' {
  interface Transport {
    sendMail(mail: object): Promise<unknown>;
    close(): void;
  }
  const nodemailer: { createTransport(options: object): Transport };
  export default nodemailer;
}
