import type { PayTexts } from './pay-texts.ts';

export const es: PayTexts = {
  payAmount: 'Pagar {amount}',
  payHereUntil: 'Pagar esta factura aquí (el enlace es válido hasta el {date})',
  more: 'y {count} más',
  paid: { title: 'Pagado, muchas gracias', text: 'Hemos recibido su pago.' },
  processing: { title: 'Su pago está en curso', text: 'No tiene que hacer nada más. Se confirmará en cuanto llegue.' },
  expectedOn: 'Pago previsto para el {date}',
  confirm: { title: 'Confirme su pago', text: 'Su banco le pide que lo confirme.', button: 'Confirmar el pago' },
  voided: { title: 'Esta factura se ha anulado', text: 'No hay nada que pagar.' },
  nothingDue: { title: 'Nada que pagar', text: 'Ya no hay ningún importe pendiente.' },
  transfer: {
    title: 'Pagar por transferencia',
    text: 'Transfiera el importe a esta cuenta e indique la referencia.',
    holder: 'Titular de la cuenta',
  },
  ask: 'Pregunte a {issuer} cómo puede pagar.',
  opening: {
    title: 'Un momento, por favor',
    text: 'Le llevamos a la página de pago.',
    link: 'Continuar a la página de pago',
  },
  tryAgain: {
    title: 'La página de pago no se puede abrir en este momento',
    text: 'No se ha cobrado nada. Inténtelo de nuevo dentro de un minuto.',
    button: 'Intentar de nuevo',
  },
  expired: { title: 'Este enlace ha caducado', text: 'Pida uno nuevo al emisor de la factura.' },
  mail: {
    refused: 'No se ha podido cobrar con su método de pago.',
    payHere: 'Pague aquí (el enlace es válido durante {days} días):',
    onPage: 'Las facturas se pueden abrir en esa página.',
    view: 'Ver las facturas',
    worksFor: 'El enlace es válido durante {days} días.',
  },
};
