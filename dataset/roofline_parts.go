package dataset

// BytesPerToken returns what one token of a run reads of the weights, in bytes, worked out as for Ratio. It takes the
// size the source prints, else that of the published file of the quantization, else parameters x bits per weight. Each
// is multiplied by the share of the parameters in use. 0 where it is unknown.
func (r *Roofline) BytesPerToken(b *Benchmark) float64 {
	m := r.models[b.Model]
	if m == nil {
		return 0
	}
	return r.bytesPerToken(b, m)
}

// Bandwidth returns the memory bandwidth of one device in bytes per second, 0 where it is
// unknown; of a record of several variants the highest.
func (r *Roofline) Bandwidth(hardware Slug) float64 {
	if h := r.hardware[hardware]; h != nil {
		return h.bytesPS
	}
	return 0
}

// Elsewhere reports whether part of the weights of a run lay outside the memory of its device,
// by partial_offload or by the number of layers on the device.
func (r *Roofline) Elsewhere(b *Benchmark) bool {
	m, h := r.models[b.Model], r.hardware[b.Hardware]
	return m != nil && h != nil && elsewhere(b, m, h.Hardware)
}

// BitsPerWeight returns the storage of a quantization in bits per weight, as Ratio counts it; 0
// where its name says nothing.
func (r *Roofline) BitsPerWeight(quantization string) float64 { return r.bitsOf(quantization) }
