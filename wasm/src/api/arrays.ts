// Arrays of memory that nothing shares. TypeScript has had a parameter for that since 5.7, and these have it there; older
// ones read them as the plain arrays.

/** `Uint8Array<ArrayBuffer>` */
export type Bytes = InstanceType<Uint8ArrayConstructor>

/** `Float32Array<ArrayBuffer>` */
export type Floats = InstanceType<Float32ArrayConstructor>
