package fit

import (
	"fmt"
	"math"
	"strings"

	"modeldex/dataset"
)

const (
	// tensorGain: n devices that share each layer are n^tensorGain as fast as one. Of the shipped runs with one and with
	// several cards, two are 1.2 to 1.7 times as fast, four 1.3 to 2.4 times, eight 1.3 to 3.6 times.
	tensorGain = 0.55
	// hostShare is the part of the bandwidth of main memory that a processor reaches with the weights that lie there, and
	// hostLaunch the seconds that each layer of them takes beside that, for the way to the card and back.
	hostShare  = 0.56
	hostLaunch = 20e-6
	// mostOnDesktop is what boards with two channels hold: more lies in the memory of a server.
	mostOnDesktop = 192 * gib
	// hostSpread and tensorSpread are how far the ends of a 90 % band are from such a time, in logarithms.
	hostSpread   = 0.8
	tensorSpread = 0.3
)

// guess is the speed that is expected of a size on the whole machine; false where a fact is missing. The time of a token
// is the sum of the times of the layers on each device and in main memory.
func (a *ask) guess(size int, tokens int64) (g guess, ok bool) {
	g, ok = a.guessOn(0, size, tokens)
	devices := len(a.m.devices)
	if !ok || devices <= 1 && a.laid == nil {
		return g, ok
	}
	seconds, uncertain, slowest := 0.0, 0.0, math.Inf(1)
	add := func(time, spread float64) { seconds, uncertain = seconds+time, uncertain+time*spread }
	for i := range a.m.devices {
		on, ok := g, true
		if a.m.devices[i].hw != a.m.hw {
			on, ok = a.guessOn(i, size, tokens)
		}
		if !ok {
			return g, false
		}
		slowest = min(slowest, on.log)
		add(a.part(i)/math.Exp(on.log), on.spread)
	}
	if a.q.Split == SplitTensor {
		n := math.Log(float64(devices))
		g = guess{slowest + tensorGain*n, g.spread + tensorSpread}
		seconds, uncertain = 1/math.Exp(g.log), g.spread/math.Exp(g.log)
	}
	if a.laid != nil && *a.laid.HostRead > 0 {
		bandwidth, _ := a.hostBandwidth()
		layers := a.t.body.layers
		if p := a.laid; p.CPUMoE != nil && *p.GPULayers > int64(layers) {
			layers = float64(*p.CPUMoE)
		} else if p.GPULayers != nil {
			layers -= float64(*p.GPULayers)
		}
		add(float64(*a.laid.HostRead)/(hostShare*bandwidth)+hostLaunch*max(0, layers), hostSpread)
	}
	return guess{-math.Log(seconds), uncertain / seconds}, true
}

// part is the part of a token's work that a device does: of the weights it reads, or of the memory where all of them are
// on devices, by which layers are dealt out.
func (a *ask) part(device int) float64 {
	if a.laid == nil {
		return float64(a.m.devices[device].usable) / float64(max(a.m.available, 1))
	}
	all := *a.laid.HostRead
	for i := range a.laid.Devices {
		all += *a.laid.Devices[i].Read
	}
	return float64(*a.laid.Devices[device].Read) / float64(max(all, 1))
}

// lay makes the ask one of weights that lie as a placement says; false where what a token reads of them is not known.
func (a *ask) layOut(p *Placement) bool {
	if p == nil || p.HostRead == nil || a.q.Rules != LlamaCpp {
		return false
	}
	for i := range p.Devices {
		if p.Devices[i].Read == nil {
			return false
		}
	}
	a.laid = p
	return true
}

// hostBandwidth is that of the main memory beside discrete devices, in bytes per second: asked for, of the host, or what
// is usual beside the card, and then its name.
func (a *ask) hostBandwidth() (bandwidth float64, usual string) {
	if gbps := a.q.SystemBandwidthGBps; gbps > 0 {
		return gbps * 1e9, ""
	}
	if a.m.host != nil {
		if h := a.e.hardware[a.m.host.Slug]; h.bandwidth > 0 {
			return h.bandwidth, ""
		}
	}
	switch h := a.m.hw; {
	case a.laid != nil && a.laid.Host > mostOnDesktop, h != nil && strings.HasPrefix(val(h.MemoryType), "HBM"):
		return 307.2e9, "eight channels of DDR5-4800"
	case h != nil && h.ReleaseDate != nil && h.ReleaseDate.Number() < 20221001:
		return 51.2e9, "two channels of DDR4-3200"
	}
	return 89.6e9, "two channels of DDR5-5600"
}

// assumesOfSplit says what a speed of several devices or of main memory takes for granted.
func (a *ask) assumesOfSplit() (out []string) {
	switch n := len(a.m.devices); {
	case n > 1 && a.q.Split == SplitTensor:
		out = append(out, fmt.Sprintf("%d devices that share each layer are %.1f times as fast as one, as runs with one and with several cards differ", n, math.Pow(float64(n), tensorGain)))
	case n > 1:
		out = append(out, "the devices hold different layers and work in turn: their times add up")
	}
	if a.laid != nil && *a.laid.HostRead > 0 {
		bandwidth, usual := a.hostBandwidth()
		if usual != "" {
			usual = " (" + usual + ", as is usual beside it: host or system_bandwidth_gbps says what there is)"
		}
		out = append(out, fmt.Sprintf("%.1f GB of a token's weights are read from main memory of %.0f GB/s%s", float64(*a.laid.HostRead)/1e9, bandwidth/1e9, usual))
	}
	return out
}

// configOf is the configuration of a size on one of unlike devices.
func (a *ask) siteOf(device int) *site {
	if device == 0 || a.m.devices[device].hw == a.m.hw {
		return a.place()
	}
	if a.others == nil {
		a.others = map[*dataset.Hardware]*site{}
	}
	h := a.m.devices[device].hw
	if a.others[h] == nil {
		a.others[h] = a.siteWith(h, a.e.hardware[h.Slug].bandwidth)
	}
	return a.others[h]
}
