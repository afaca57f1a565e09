// Package linking puts tests that ask different questions on one scale, through the models that
// took more than one of them.
//
// # Model
//
// One ability per model, and for each source what that source measures beside it:
//
//		value = intercept + loading * (ability + specific) + error
//
//	  - ability is what all sources share. Over the models of the fit it has mean 0 and variance 1.
//	  - specific belongs to one model in one source: the judges, the style of the questions, the
//	    harness. Its variance is estimated for each source. Without it, five categories of one
//	    source would count as five independent witnesses.
//	  - error belongs to one number. Its variance is what the item adds (estimated for each item)
//	    plus the square of the standard error that the source states.
//
// A test with its own intercept and slope is the linear model of test equating by Levine (1955) and Angoff
// (1971). See Kolen and Brennan, Test Equating, Scaling, and Linking (3rd edition, 2014), chapter 4. The factor
// within a source is the testlet of Bradlow, Wainer and Wang, A Bayesian random effects model for testlets,
// Psychometrika 64 (1999). The Epoch Capabilities Index links benchmarks by the same idea with a logistic curve
// (https://epoch.ai/data/eci-documentation/methodology). Here a straight line predicted held-out sources
// equally well, and anyone can compute it by hand.
//
// # Fit
//
// Fit maximizes the likelihood by expectation and maximization (Rubin and Thayer, EM algorithms for ML factor analysis,
// Psychometrika 47, 1982), for a fixed number of rounds from a fixed start. The fit has a known weakness: an item or a
// source whose error shrinks to nothing decides alone (a Heywood case). Two rules keep it away from that. Variances
// carry a weak prior, and no item counts as more exact than the median item of its source.
//
// # Reproducible
//
// The result depends on the numbers only, not on their order and not on the processor. Sums are taken in a fixed order.
// Products that enter sums are converted explicitly, which by the language specification prevents a fused multiply-add.
// Of package math only Sqrt is used: it is exact to the last bit everywhere.
//
// Functions share nothing and may run side by side.
package linking
