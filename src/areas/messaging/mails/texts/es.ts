import type { MailTexts } from './mail-texts.ts';

export const es: MailTexts = {
  words: {
    invoice: {
      subject: 'Factura {number} de {seller}: {amount}, vence el {due_date}',
      intro: 'Su factura {number} va adjunta en PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Nota de crédito {number} de {seller}: {amount}',
      intro: 'Su nota de crédito {number} va adjunta en PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Recibo {number} de {seller}: {amount}',
      intro: 'Gracias por su pago. El recibo {number} va adjunto en PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Recordatorio: {amount} vencidos con {seller}',
      intro: 'Quizá se le haya pasado: estas facturas siguen pendientes.',
      closing: 'Si ya ha pagado, no tenga en cuenta este mensaje.',
    },
    payment_request: {
      subject: '{seller}: pago pendiente de {amount}',
      intro: 'Estas facturas de {seller} están vencidas:',
      closing: '',
    },
    payment_action: { subject: '{seller}: Confirme su pago', intro: 'Este pago le está esperando.', closing: '' },
    payment_failed: {
      subject: '{seller}: no se pudo cobrar {amount}',
      intro: 'No se pudo cobrar la factura {number}. Puede pagarla de otra manera.',
      closing: '',
    },
    portal_link: {
      subject: 'Su enlace a sus páginas en {seller}',
      intro: 'Este es el nuevo enlace a sus facturas, su consumo y sus formas de pago.',
      closing: 'Si no lo pidió, no tiene que hacer nada.',
    },
    details_changed: {
      subject: 'Sus datos de facturación en {seller} han cambiado',
      intro: 'El correo de sus facturas se cambió en sus páginas. Las facturas ya no llegan a esta dirección.',
      closing: 'Si no fue usted, responda a este correo.',
    },
  },
  settled: 'Factura {number} de {seller}',
  firm: {
    subject: 'Sigue vencido: {amount} con {seller}',
    intro: 'A pesar de nuestro recordatorio, estas facturas siguen pendientes. Páguelas ahora, por favor.',
  },
  final: {
    subject: 'Último recordatorio: {amount} vencidos con {seller}',
    intro:
      'Este es el último recordatorio de estas facturas vencidas. Pague sin demora o póngase en contacto con nosotros.',
  },
  overdueBy: 'con {days} de retraso',
  pages: 'Ver sus facturas y su consumo',
  worksFor: 'El enlace funciona {hours} horas.',
  openPages: 'Abrir mis páginas',
  keepLink: 'El enlace funciona {hours} horas. Quien lo tenga puede abrir sus páginas: no lo comparta.',
};
